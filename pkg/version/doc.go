// Package version identifies the build of the running program.
//
// tools/release.sh sets the version and the commit with the linker. Other builds have what the Go toolchain recorded.
package version
