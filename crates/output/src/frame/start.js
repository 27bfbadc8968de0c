"use strict";
// Starts a page that has no scripts of its own.
page.start();
document.documentElement.dataset.ready = "yes";
