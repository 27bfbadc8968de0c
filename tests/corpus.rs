//! The inputs that fuzzing has kept, given again to their targets: inputs that reach code which no other input reaches, and inputs that
//! once failed.

use std::path::Path;

use crate::fuzzing::TARGETS;

#[test]
fn inputs_kept_by_fuzzing_stay_fixed() {
    for (name, target) in TARGETS {
        let folder = Path::new("tests/fuzzing/corpus").join(name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .expect("each target has a folder")
            .map(|entry| entry.expect("it is listed").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{name}");
        for file in files {
            let data = std::fs::read(&file).expect("it is read");
            let done = std::panic::catch_unwind(|| target(&data));
            assert!(done.is_ok(), "see above: {}", file.display());
        }
    }
}
