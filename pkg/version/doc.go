// Package version identifies the build of the running program.
//
// tools/release.sh sets the version and the commit with the linker. In other builds, they are the values that the Go
// toolchain recorded.
package version
