package shipping

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/secretscan"
	"github.com/signalcast/signalcast/test/system/stack"
)

// TestHistoryAndImagesHaveNoSecret searches the history of the repository and the programs of the images. They must contain no
// secret of the running system, no value in the format of a credential, and no value that looks random.
func TestHistoryAndImagesHaveNoSecret(t *testing.T) {
	t.Parallel()
	secrets := secretsOf(t, stack.Shared(t))
	search := secretscan.New(secrets)
	objects, err := search.History(t.Context(), root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range services(t) {
		search.Program("the image of "+service, []byte(stack.ReadFile(t, filepath.Join(compileOnce(t).programs, service))))
	}
	if certificates, err := os.ReadFile(trusted); err == nil {
		search.Program("the certificates of the images", certificates)
	}
	for _, hit := range search.Hits() {
		t.Error(hit)
	}
	shallow := strings.TrimSpace(run(t, root(t), nil, "git", "rev-parse", "--is-shallow-repository"))
	if _, unused := search.Exceptions(); shallow == "false" && len(unused) > 0 {
		t.Errorf("unused exceptions, which must be removed: %s", strings.Join(unused, ", "))
	}
	if objects <= 100 {
		t.Errorf("%d objects of the history were searched; want more than 100", objects)
	}
}

// secretsOf returns the secrets of a system by name.
func secretsOf(t *testing.T, s *stack.Stack) map[string]string {
	t.Helper()
	hub, api := s.Settings(t, "hub"), s.Settings(t, "api")
	var keys []struct{ Seed string }
	if err := json.Unmarshal([]byte(hub["HUB_KEYS"]), &keys); err != nil || len(keys) == 0 {
		t.Fatalf("HUB_KEYS: %v", err)
	}
	out := map[string]string{
		"the administrators' secret": s.AdminSecret, "the cron secret": s.CronSecret, "the seed of the hub's key": keys[0].Seed,
		"the session secret": hub["SESSION_SECRETS"], "the successor secret": hub["SUCCESSOR_SECRETS"],
		"the link secret": hub["LINK_SECRET"],
		"the mask secret": api["MASK_SECRET"], "the key of webhooks": api["WEBHOOK_SECRET_KEY"],
	}
	for _, settings := range []map[string]string{hub, api} {
		u, err := url.Parse(settings["DATABASE_URL"])
		if err != nil {
			t.Fatal(err)
		}
		out["the password of "+u.User.Username()], _ = u.User.Password()
	}
	for name, value := range out {
		if len(value) < 16 {
			t.Fatalf("%s has %d characters; want at least 16", name, len(value))
		}
	}
	return out
}

// copied matches the files that a Dockerfile copies from the build directory.
var copied = regexp.MustCompile(`(?m)^(?:COPY|ADD)\s+(?:--\S+\s+)*(\S+)`)

// TestImagesCopyKnownFiles checks that the images contain only files that TestHistoryAndImagesHaveNoSecret searches.
func TestImagesCopyKnownFiles(t *testing.T) {
	t.Parallel()
	known := []string{"/out/${PROGRAM}", "/out/hub", trusted, "/empty", "data-entry.sh"}
	files, err := filepath.Glob(filepath.Join(root(t), "deploy/images/*Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		text := stack.ReadFile(t, file)
		if _, images, ok := strings.Cut(text, "\nFROM scratch"); ok {
			text = images // the stage before compiles the sources; images contain its programs only
		}
		for _, m := range copied.FindAllStringSubmatch(text, -1) {
			if n++; !slices.Contains(known, m[1]) {
				t.Errorf("%s copies %s; want one of %v", file, m[1], known)
			}
		}
	}
	if n < 4 {
		t.Errorf("the Dockerfiles copy %d files; want at least 4", n)
	}
}
