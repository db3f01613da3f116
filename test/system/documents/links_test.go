package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
)

var (
	linkTo    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	namedRead = regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (?:(?:https?://[a-z.]+|\\{[a-z_]+\\}))?(/[^` ,]*)")
)

// TestLinksOfThePages checks that every link to a file of the repository has an existing target.
func TestLinksOfThePages(t *testing.T) {
	t.Parallel()
	links := 0
	for _, page := range append(documents(t), "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md") {
		raw, err := os.ReadFile(filepath.Join(repo, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkTo.FindAllStringSubmatch(string(raw), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(repo, filepath.Dir(page), target)); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if links < 60 {
		t.Errorf("only %d links were found: the search does not work", links)
	}
}

// elsewhere lists paths that the pages name although no service serves them: paths of the video origin and of a removed page.
var elsewhere = []string{"/live/<handle>/index.m3u8", "/hooks/publish", "/dev/session/end"}

// TestRoutesOfThePages checks that every route that a page names with its method is in the OpenAPI document.
func TestRoutesOfThePages(t *testing.T) {
	t.Parallel()
	doc := openapi.ForTest(t)
	named := 0
	for _, page := range documents(t) {
		raw, err := os.ReadFile(filepath.Join(repo, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedRead.FindAllStringSubmatch(string(raw), -1) {
			if strings.Contains(m[2], "…") || slices.Contains(elsewhere, m[2]) {
				continue // an ellipsis replaces the beginning of a path that the page has already named
			}
			named++
			there := slices.ContainsFunc(openapi.Hosts, func(host string) bool {
				return doc.Lookup(host, m[1], strings.TrimSuffix(m[2], ".")) != nil
			})
			if !there {
				t.Errorf("%s names %s %s, which the OpenAPI document does not describe", page, m[1], m[2])
			}
		}
	}
	if named < 60 {
		t.Errorf("only %d routes were found: the search does not work", named)
	}
}
