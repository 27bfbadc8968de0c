// What scrolls sideways can be reached by the keyboard, and labels have no attributes of buttons.
for (const part of document.querySelectorAll(".table-wrapper, pre > code")) {
  if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
}
for (const label of document.querySelectorAll("label[for=sidebar-toggle-anchor]")) {
  new MutationObserver(() => clean(label)).observe(label, { attributes: true });
  clean(label);
}
function clean(label) {
  for (const name of ["aria-expanded", "aria-label", "aria-controls"]) if (label.hasAttribute(name)) label.removeAttribute(name);
}
