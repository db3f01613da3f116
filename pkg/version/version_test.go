package version

import (
	"runtime/debug"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	committed := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	devel, tagged := debug.Module{Version: "(devel)"}, debug.Module{Version: "v0.1.0"}
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123"}, {Key: "vcs.modified", Value: "true"}}
	for _, tc := range []struct {
		name   string
		linked Build
		info   debug.BuildInfo
		want   Build
	}{
		{"nothing is recorded", Build{}, debug.BuildInfo{}, Build{}},
		{"a tree without tags", Build{}, debug.BuildInfo{Main: devel, Settings: vcs}, Build{Commit: "0123-dirty"}},
		{"a dated tree", Build{}, debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.time", Value: "2026-11-21T10:00:00Z"}}}, Build{Date: committed}},
		{"a tagged tree", Build{}, debug.BuildInfo{Main: tagged, Settings: vcs[:1]}, Build{Version: "v0.1.0", Commit: "0123"}},
		{
			"a release",
			Build{Version: "v0.2.0", Commit: "4567"},
			debug.BuildInfo{Main: tagged, Settings: vcs},
			Build{Version: "v0.2.0", Commit: "4567"},
		},
	} {
		if got := tc.linked.withDefaults(&tc.info); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
	if b := Read(); b.Version == "" || b.Go == "" {
		t.Errorf("the build of this test is %+v; want a version and a toolchain", b)
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]Build{
		"v0.1.0 (commit 0123, go1.26.8)":   {Version: "v0.1.0", Commit: "0123", Go: "go1.26.8"},
		"devel (commit unknown, go1.26.8)": {Version: Development, Go: "go1.26.8"},
	} {
		if b.String() != want {
			t.Errorf("%+v is %q, want %q", b, b, want)
		}
	}
}
