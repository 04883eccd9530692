//! Lets the tests find the fake host of the installed SDK.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    println!("cargo:rustc-link-search=native={folder}/out/sdk/lib");
    println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{folder}/out/sdk/lib");
    println!("cargo:rerun-if-changed=build.rs");
}
