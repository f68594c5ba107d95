"use strict";
// Every text from outside gets into a page through textContent alone, here in `el`.
const el = (tag, attributes, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  for (const child of children.flat(2)) if (child !== null && child !== undefined) made.append(child);
  return made;
};
const by = (id) => document.getElementById(id);
