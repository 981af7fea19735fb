//! The header against the library: a compiler of C and one of C++ check the size and the place of each field,
//! and the types of each function.
#![cfg(target_os = "linux")]

mod table;
mod tools;

use std::fmt::Write;
use std::process::Command;

/// A program that compiles if the header is that of the library.
fn program() -> String {
    let mut text = String::from(
        "#include <anabranch/sockets.h>\n\
         #ifdef __cplusplus\n#define SAME(a, b) static_assert((a) == (b), #a)\n\
         #else\n#define SAME(a, b) extern char same_[(a) == (b) ? 1 : -1]\n#endif\n\
         int main(void);\n",
    );
    for one in table::structs() {
        let name = one.name;
        writeln!(text, "SAME(sizeof({name}), {});", one.size).unwrap();
        for (field, offset, size) in one.fields {
            writeln!(text, "SAME(offsetof({name}, {field}), {offset});").unwrap();
            writeln!(text, "SAME(sizeof((({name} *)0)->{field}), {size});").unwrap();
        }
    }
    text += "int main(void) {\n";
    for table::Function { name, result, parameters } in table::functions() {
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        writeln!(text, "    {result} (*of_{name})({parameters}) = {name};").unwrap();
        writeln!(text, "    if (of_{name} == 0) return 1;").unwrap();
    }
    text += "    return ANB_ABI == 0 ? 0 : 2;\n}\n";
    text
}

/// Compiles the program, with `change` applied to the header. Returns true if that succeeds.
fn compiles(compiler: &[&str], file: &str, change: impl Fn(String) -> String) -> bool {
    let folder = tools::scratch(&format!("header-{}-{file}", compiler[0]));
    let header = std::fs::read_to_string(tools::here().join("include/anabranch/anabranch.h")).unwrap();
    std::fs::create_dir_all(folder.join("anabranch")).unwrap();
    std::fs::write(folder.join("anabranch/anabranch.h"), change(header)).unwrap();
    let sockets = tools::here().join("include/anabranch/sockets.h");
    std::fs::copy(sockets, folder.join("anabranch/sockets.h")).unwrap();
    std::fs::write(folder.join(file), program()).unwrap();
    let done = Command::new(compiler[0])
        .args(&compiler[1..])
        .args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-Wno-unused-local-typedefs",
            "-Wno-address",
            "-c",
        ])
        .args(["-o", "out.o", file, "-I."])
        .current_dir(&folder)
        .output()
        .expect("a compiler");
    if !done.status.success() {
        println!("{}", String::from_utf8_lossy(&done.stderr));
    }
    done.status.success()
}

#[test]
fn structs_and_functions_of_the_header_are_those_of_the_library() {
    const C: &[&str] = &["cc", "-std=c99"];
    const CPP: &[&str] = &["c++", "-std=c++11"];
    for (compiler, file) in [(C, "same.c"), (CPP, "same.cc")] {
        if tools::has(compiler[0]) {
            assert!(compiles(compiler, file, |header| header), "{compiler:?}");
            // The check can fail: it does for a field of another width, and for a parameter of another type.
            let wider = |header: String| header.replacen("uint8_t ecn; ", "uint16_t ecn; ", 1);
            assert!(!compiles(compiler, file, wider), "a wider field");
            let other = |header: String| {
                header.replacen("anb_ep_listen(anb_ep *ep, int on)", "anb_ep_listen(anb_ep *ep, long on)", 1)
            };
            assert!(!compiles(compiler, file, other), "another parameter");
        }
    }
}
