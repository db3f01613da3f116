package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// Development is the version of a build for which neither the linker nor the Go toolchain set a version.
const Development = "devel"

// version, commit and date are set by the linker: -ldflags "-X github.com/signalcast/signalcast/pkg/version.version=v0.1.0". date is
// the time of the commit in the format of RFC 3339.
var version, commit, date string

// Build contains the version and commit of a program, and the Go version that built it.
type Build struct {
	Version string    // semantic version with the prefix v, or Development
	Commit  string    // git commit, with the suffix -dirty if the tree had changes; empty if unknown
	Go      string    // version of the Go toolchain
	Date    time.Time // time of the commit; zero if unknown
}

// Read returns the build of the running program, with Development if its version is unknown.
func Read() Build {
	b := Build{Version: version, Commit: commit, Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		b = b.withDefaults(info)
	}
	b.Version = cmp.Or(b.Version, Development)
	if t, err := time.Parse(time.RFC3339, date); err == nil {
		b.Date = t
	}
	return b
}

// withDefaults returns b with the version and the commit that the toolchain recorded, where b has none.
func (b Build) withDefaults(info *debug.BuildInfo) Build {
	recorded := map[string]string{}
	for _, s := range info.Settings {
		recorded[s.Key] = s.Value
	}
	if b.Commit == "" && recorded["vcs.revision"] != "" {
		b.Commit = recorded["vcs.revision"]
		if recorded["vcs.modified"] == "true" {
			b.Commit += "-dirty"
		}
	}
	if t, err := time.Parse(time.RFC3339, recorded["vcs.time"]); err == nil {
		b.Date = t
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	return b
}

// String returns the build in one line, for example "v0.1.0 (commit 0123abcd, go1.26.8)".
func (b Build) String() string {
	return fmt.Sprintf("%s (commit %s, %s)", b.Version, cmp.Or(b.Commit, "unknown"), b.Go)
}
