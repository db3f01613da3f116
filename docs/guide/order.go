package guide

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// group is a part of the index. Its pages come in this order; those of its folder that
// are not named follow.
type group struct {
	title  string
	folder string // whose other pages are here; "-": none
	pages  []string
}

var groups = []group{
	{"Start", "-", []string{"quickstart", "concepts", "scores"}},
	{"Build on it", "-", []string{
		"signin", "feed", "sdk", "cli", "agents", "overlay", "live", "video", "federation", "conformance",
	}},
	{"The protocol", "protocol", []string{
		"protocol/README", "protocol/messages", "protocol/errors", "protocol/events", "protocol/ws", "protocol/webhooks", "protocol/changelog",
	}},
	{"How it works", ".", []string{"method", "programme", "categorisation", "architecture", "security"}},
	{"Run it", "-", []string{"operations", "performance"}},
	{"Decisions", "decisions", nil},
}

// ordered lists the Markdown of the folder, group by group, in reading order.
func ordered(files fs.FS) ([][]string, error) {
	left := map[string]bool{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".md") {
			left[strings.TrimSuffix(name, ".md")] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(groups))
	for i, g := range groups {
		for _, name := range g.pages {
			if left[name] {
				out[i] = append(out[i], name+".md")
				delete(left, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		at := slices.IndexFunc(groups, func(g group) bool { return g.folder == path.Dir(name) })
		if at < 0 {
			at = slices.IndexFunc(groups, func(g group) bool { return g.folder == "." })
		}
		out[at] = append(out[at], name+".md")
	}
	return out, nil
}

// anchorOf is the anchor of a group on the index.
func anchorOf(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
