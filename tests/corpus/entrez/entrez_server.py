"""E-utilities on loopback over a few invented records: they pace, search and fail as NCBI's do.

It takes POST only, refuses what would be a mistake of ours (a query whose syntax it does not know, more than 200 ids),
and what it says of its own is in NCBI's words.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

MOST = 9_999
STOPWORDS = frozenset("a an and are as at be by do does for how in is it of on that the to was were what with".split())


@dataclass(frozen=True)
class Article:
    pmid: str
    title: str = "A title."
    abstract: str = "An abstract."
    journal: str = "Journal of Invented Findings"
    year: str = "2020"
    authors: tuple[str, ...] = ("Doe",)
    keywords: tuple[str, ...] = ()
    retracted: bool = False
    doi: str = ""
    pmcid: str = ""
    abbreviation: str = ""
    volume: str = ""
    pages: str = ""
    notices: tuple[tuple[str, str], ...] = ()
    """Kinds of ``CommentsCorrections`` and the PMIDs of the notices."""

    @property
    def words(self) -> list[str]:
        return re.findall(r"[^\W_]+(?:[-'.][^\W_]+)*", f"{self.title} {self.abstract}".lower())

    @property
    def xml(self) -> str:
        abstract = f"<Abstract><AbstractText>{escape(self.abstract)}</AbstractText></Abstract>" if self.abstract else ""
        people = "".join(
            f'<Author ValidYN="Y"><LastName>{escape(name)}</LastName><Initials>J</Initials></Author>'
            for name in self.authors
        )
        date = f"<PubDate><Year>{self.year}</Year></PubDate>" if self.year else "<PubDate/>"
        title = f"<Title>{escape(self.journal)}</Title>" if self.journal else ""
        marked = "<PublicationType>Retracted Publication</PublicationType>" if self.retracted else ""
        volume = f"<Volume>{self.volume}</Volume>" if self.volume else ""
        short = f"<ISOAbbreviation>{escape(self.abbreviation)}</ISOAbbreviation>" if self.abbreviation else ""
        pages = f"<Pagination><MedlinePgn>{self.pages}</MedlinePgn></Pagination>" if self.pages else ""
        links = "".join(
            f'<CommentsCorrections RefType="{kind}"><RefSource>J Inv. 2021</RefSource><PMID>{pmid}</PMID>'
            "</CommentsCorrections>"
            for kind, pmid in self.notices
        )
        notices = f"<CommentsCorrectionsList>{links}</CommentsCorrectionsList>" if links else ""
        others = "".join(
            f'<ArticleId IdType="{kind}">{escape(id)}</ArticleId>'
            for kind, id in (("doi", self.doi), ("pmc", self.pmcid))
            if id
        )
        return (
            f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{self.pmid}</PMID>'
            '<Article PubModel="Print"><Journal>'
            f'<JournalIssue CitedMedium="Print">{volume}{date}</JournalIssue>{title}{short}</Journal>'
            f"<ArticleTitle>{escape(self.title)}</ArticleTitle>{pages}{abstract}"
            f'<AuthorList CompleteYN="Y">{people}</AuthorList><Language>eng</Language>'
            f"<PublicationTypeList><PublicationType>Journal Article</PublicationType>{marked}</PublicationTypeList>"
            f"</Article>{notices}</MedlineCitation>"
            '<PubmedData><ArticleIdList><ArticleId IdType="pubmed">'
            f"{self.pmid}</ArticleId>{others}</ArticleIdList></PubmedData></PubmedArticle>"
        )


@dataclass(frozen=True)
class Arrival:
    at: float
    path: str
    headers: dict[str, str]
    fields: dict[str, str]

    @property
    def tool(self) -> str:
        return self.path.removeprefix("/eutils/").removesuffix(".fcgi").removesuffix(".cgi").strip("/")

    @property
    def ids(self) -> list[str]:
        return self.fields["id"].split(",")


Behaviour = Callable[["Answering", Arrival], None]


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Listening

    def do_POST(self) -> None:
        self.take(self.path, self.rfile.read(int(self.headers.get("content-length", 0))).decode())

    def do_GET(self) -> None:
        """Only the converter of ids is asked so."""
        path, _, query = self.path.partition("?")
        if path == "/idconv/":
            self.take(path, query)
        else:
            self.send(405, "", "text/plain")

    def take(self, path: str, form: str) -> None:
        at = time.monotonic()
        fields = {name: values[0] for name, values in parse_qs(form, strict_parsing=True).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        with suppress(OSError):
            self.server.owner.answer(self, Arrival(at, path, headers, fields))

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, body: str, kind: str, **headers: str) -> None:
        content = body.encode()
        self.begin(status, kind, len(content), **headers)
        self.wfile.write(content)
        self.wfile.flush()

    def begin(self, status: int, kind: str, length: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def json(self, body: object, status: int = 200, **headers: str) -> None:
        self.send(status, json.dumps(body), "application/json; charset=UTF-8", **headers)

    def cut(self) -> None:
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: EntrezServer

    def handle_error(self, *_: object) -> None:
        pass


@dataclass
class EntrezServer:
    """Answers the n-th request by the n-th behaviour, and whatever comes after them as the tool that it is."""

    articles: Sequence[Article] = ()
    per_second: int | None = None
    synonyms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)
    """PMIDs that have a summary and no record."""
    broken: dict[str, str] = field(default_factory=dict)
    """XML in the place of a record's."""
    filtered: set[str] = field(default_factory=set)
    """PMIDs that ``hasabstract`` does not find, whatever they have."""
    most_ids: int = 200

    def __post_init__(self) -> None:
        self.arrivals: list[Arrival] = []
        self.refused = 0
        self.closing = threading.Event()
        self._script: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._passed: deque[float] = deque()
        self._http = _Listening(("127.0.0.1", 0), Answering)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def __enter__(self) -> EntrezServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/eutils/"

    @property
    def converter_url(self) -> str:
        return self.url.replace("/eutils/", "/idconv/")

    @property
    def tools(self) -> list[str]:
        return [arrival.tool for arrival in self.arrivals]

    @property
    def queries(self) -> list[str]:
        return [arrival.fields["term"] for arrival in self.arrivals if arrival.tool == "esearch"]

    @property
    def most_in_a_second(self) -> int:
        """Of requests that came, in any second, wherever it begins."""
        times = sorted(arrival.at for arrival in self.arrivals)
        return max(sum(start <= at < start + 1 for at in times) for start in times)

    def script(self, behaviours: Iterable[Behaviour]) -> None:
        self._script = deque(behaviours)

    def answer(self, answering: Answering, arrival: Arrival) -> None:
        with self._lock:
            self.arrivals.append(arrival)
            behaviour = self._script.popleft() if self._script else self._paced()
        behaviour(answering, arrival)

    def _paced(self) -> Behaviour:
        now = time.monotonic()
        while self._passed and now - self._passed[0] >= 1:
            self._passed.popleft()
        if self.per_second is not None and len(self._passed) >= self.per_second:
            self.refused += 1
            return too_many
        self._passed.append(now)
        return serve

    def found_by(self, query: str) -> list[str]:
        """The PMIDs a query finds, the most telling first."""
        scored = [(score, article.pmid) for article in self.articles if (score := self._score(query, article))]
        return [pmid for _, pmid in sorted(scored, key=lambda found: (-found[0], int(found[1])))]

    def _score(self, query: str, article: Article) -> int:
        scores = [self._part_score(part.strip(), article) for part in query.split(" AND ")]
        return 0 if 0 in scores else sum(scores)

    def _part_score(self, part: str, article: Article) -> int:
        if part == "hasabstract":
            return int(bool(article.abstract) and article.pmid not in self.filtered)
        if found := re.fullmatch(r"1800/01/01:(\d{4})/\d\d/\d\d\[crdt\]", part):
            return int(article.year <= found[1])
        if found := re.fullmatch(r'"(10\.[^"]+)"\[AID\]', part):
            return int(article.doi.lower() == found[1].lower())
        if found := re.fullmatch(r"([^\s\[\]()\"*:]+)\[tiab\]", part):
            return article.words.count(found[1].lower())
        if found := re.fullmatch(r"([^\s\[\]()\"*:]+)\[ti\]", part):
            return article.title.lower().count(found[1].lower())
        if found := re.fullmatch(r"([^\s\[\]()\"*:]+)\[1au\]", part):
            return int(article.authors[0].lower() == found[1].lower())
        if found := re.fullmatch(r"(\d{4})\[dp\]", part):
            return int(article.year == found[1])
        if re.fullmatch(r"\((?:[^\s\[\]()\"*:]+\[ti\] OR )*[^\s\[\]()\"*:]+\[ti\]\)", part):
            return sum(self._part_score(word, article) for word in part[1:-1].split(" OR "))
        if re.search(r"[\[\]\"*:]|\b(?:OR|NOT)\b", part):
            raise ValueError(f"syntax that is not expected here: {part}")
        anywhere = [*article.words, *(word.lower() for word in article.keywords)]
        counts = [
            sum(anywhere.count(other) for other in (word, *self.synonyms.get(word, ())))
            for word in part.strip("()").lower().split()
            if word not in STOPWORDS
        ]
        return 0 if 0 in counts else sum(counts)


def serve(answering: Answering, arrival: Arrival) -> None:
    """The tool that was asked."""
    {"esearch": esearch, "efetch": efetch, "esummary": esummary, "idconv": idconv, "ecitmatch": ecitmatch}[
        arrival.tool
    ](answering, arrival)


def ecitmatch(answering: Answering, arrival: Arrival) -> None:
    """Lines of text, each of which repeats a citation, as NCBI's are."""
    lines: list[str] = []
    for asked in arrival.fields["bdata"].split("\r"):
        journal, year, volume, page, author, _, _ = asked.split("|")
        found = [
            article.pmid
            for article in answering.server.owner.articles
            if journal in (article.journal.lower(), article.abbreviation.lower())
            and (year, volume, page) == (article.year, article.volume, article.pages.partition("-")[0])
            and (not author or author.split()[0] == article.authors[0].lower())
        ]
        told = found[0] if len(found) == 1 else f"AMBIGUOUS {','.join(found)}" if found else "NOT_FOUND;INVALID_JOURNAL"
        lines.append(asked + told)
    answering.send(200, "\n".join(lines) + "\n", "text/plain; charset=UTF-8")


def esearch(answering: Answering, arrival: Arrival) -> None:
    fields = arrival.fields
    try:
        found = answering.server.owner.found_by(fields["term"])
    except ValueError as error:
        return answering.json({"error": str(error)}, 400)
    most = min(int(fields.get("retmax", "20")), MOST)
    result: dict[str, object] = {
        "count": str(len(found)),
        "retmax": str(min(most, len(found))),
        "retstart": "0",
        "idlist": found[:most],
        "translationset": [],
        "querytranslation": fields["term"],
    }
    if not found:
        result["errorlist"] = {"phrasesnotfound": [fields["term"].split()[0]], "fieldsnotfound": []}
        result["warninglist"] = {
            "phrasesignored": [],
            "quotedphrasesnotfound": [],
            "outputmessages": ["No items found."],
        }
    return answering.json({"header": {"type": "esearch", "version": "0.3"}, "esearchresult": result})


def efetch(answering: Answering, arrival: Arrival) -> None:
    owner = answering.server.owner
    if len(arrival.ids) > owner.most_ids:
        return answering.json({"error": "too many ids"}, 400)
    return answering.send(200, article_set(owner, arrival.ids), "text/xml; charset=UTF-8")


def article_set(owner: EntrezServer, ids: Iterable[str]) -> str:
    known = {article.pmid: article.xml for article in owner.articles} | owner.broken
    articles = "".join(known[id] for id in ids if id in known and id not in owner.withheld)
    return f'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet>\n<PubmedArticleSet>{articles}</PubmedArticleSet>'


def esummary(answering: Answering, arrival: Arrival) -> None:
    known = {article.pmid: article for article in answering.server.owner.articles}
    result: dict[str, object] = {"uids": arrival.ids}
    for id in arrival.ids:
        if (article := known.get(id)) is None:
            result[id] = {"uid": id, "error": "cannot get document summary"}
            continue
        result[id] = {
            "uid": id,
            "title": article.title,
            "fulljournalname": article.journal,
            "source": "J Invent",
            "pubdate": f"{article.year} May 3",
            "authors": [{"name": f"{name} J", "authtype": "Author"} for name in article.authors],
            "articleids": [{"idtype": "pubmed", "value": id}, {"idtype": "doi", "value": f"10.1/{id}"}],
            "pubtype": ["Journal Article"],
            "attributes": ["Has Abstract"] if article.abstract else [],
        }
    answering.json({"header": {"type": "esummary", "version": "0.3"}, "result": result})


def idconv(answering: Answering, arrival: Arrival) -> None:
    """It knows articles that have a PMC id, wants ids of one kind, and writes a PMID as a number."""
    kind, ids = arrival.fields["idtype"], arrival.fields["ids"].split(",")
    if "api_key" in arrival.fields or len(ids) > 200:
        return answering.json({"status": "error", "http_status": "400"}, 400)
    if any(id.lower().startswith("pmc") != (kind == "pmcid") for id in ids):
        said = "All values of query param `ids` must be DOIs."
        return answering.json({"status": "error", "errors": [{"message": said, "code": "invalid_dois"}]}, 400)
    known = {
        (article.pmcid if kind == "pmcid" else article.doi).lower(): article
        for article in answering.server.owner.articles
        if article.pmcid
    }
    records: list[dict[str, object]] = []
    for id in ids:
        if article := known.get(id.lower()):
            records.append({"doi": article.doi, "pmcid": article.pmcid, "pmid": int(article.pmid), "requested-id": id})
        else:
            records.append({kind: id, "requested-id": id, "status": "error", "errmsg": "Identifier not found in PMC"})
    answering.json({"status": "ok", "records": records})


def too_many(answering: Answering, arrival: Arrival) -> None:
    """NCBI names the key that was too fast, or the address."""
    limit = answering.server.owner.per_second or 3
    who = arrival.fields.get("api_key", "203.0.113.7")
    body = {"error": "API rate limit exceeded", "api-key": who, "count": str(limit + 1), "limit": str(limit)}
    answering.json(body, 429)


def busy(seconds: str) -> Behaviour:
    return lambda answering, _: answering.json({"error": "API rate limit exceeded"}, 429, retry_after=seconds)


def bad_key(answering: Answering, arrival: Arrival) -> None:
    body = {"error": "API key invalid", "api-key": arrival.fields.get("api_key", ""), "type": "invalid"}
    answering.json(body | {"status": "unknown"}, 400)


def status(code: int, body: str = "", kind: str = "text/plain") -> Behaviour:
    return lambda answering, _: answering.send(code, body, kind)


def body(text: str, kind: str = "application/json") -> Behaviour:
    return status(200, text, kind)


def backend_failed(answering: Answering, _: Arrival) -> None:
    """In JSON that is none: with a bare line break in it."""
    said = '{"header":{"type":"esearch"},"esearchresult":{"ERROR":"Search Backend failed: read\nfailed"}}'
    answering.send(200, said, "application/json")


PAGE = "<!DOCTYPE html>\n<html><head><title>NCBI - WWW Error Blocked Diagnostic</title></head><body>no</body></html>"


def page(code: int = 200) -> Behaviour:
    return status(code, PAGE, "text/html")


def hang(answering: Answering, _: Arrival) -> None:
    answering.server.owner.closing.wait(30)
    answering.close_connection = True


def dribble(answering: Answering, _: Arrival) -> None:
    """A byte now and then, of a reply that would take hours."""
    answering.begin(200, "application/json", 100_000)
    while not answering.server.owner.closing.wait(0.02):
        answering.wfile.write(b" ")
        answering.wfile.flush()


def hang_up(answering: Answering, _: Arrival) -> None:
    answering.cut()


def cut_body(answering: Answering, arrival: Arrival) -> None:
    """Half of what was announced, and then the connection is gone."""
    content = article_set(answering.server.owner, arrival.ids).encode()
    answering.begin(200, "text/xml", len(content))
    answering.wfile.write(content[: len(content) // 2])
    answering.cut()


def truncated(answering: Answering, arrival: Arrival) -> None:
    """Half of the XML, as if it were all."""
    content = article_set(answering.server.owner, arrival.ids)
    answering.send(200, content[: len(content) // 2], "text/xml")


def without(*pmids: str) -> Behaviour:
    """A whole reply that leaves records out."""

    def behave(answering: Answering, arrival: Arrival) -> None:
        kept = [id for id in arrival.ids if id not in pmids]
        answering.send(200, article_set(answering.server.owner, kept), "text/xml")

    return behave


def fewer_ids(answering: Answering, _: Arrival) -> None:
    """A search that announces more than it brings."""
    answering.json({"esearchresult": {"count": "3", "retmax": "3", "retstart": "0", "idlist": ["1"]}})
