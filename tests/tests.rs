//! The tests of the whole: one line per capability.

mod lu; // the application `lu` against closed forms
