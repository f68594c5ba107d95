"""Questions and answers over HTTP, for people in a page, for programs and for assistants (MCP)."""
