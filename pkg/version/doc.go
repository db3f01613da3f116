// Package version identifies the build of the running program.
//
// tools/release.sh sets the version and the commit with the linker; make build and make up set the commit. In other builds,
// they are the values that the Go toolchain recorded. It records no commit with go run and in a git worktree.
package version
