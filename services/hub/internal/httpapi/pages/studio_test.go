package pages

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestStudioWithoutScript checks that the page says that it needs JavaScript. Its forms are disabled until the script runs, so
// that no form puts its input into the URL.
func TestStudioWithoutScript(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("templates/studio.html")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), `id="studio-state" role="status">Needs JavaScript<`) {
		t.Error("the page does not say that it needs JavaScript")
	}
	forms := regexp.MustCompile(`(?s)<form.*?</form>`).FindAllString(string(raw), -1)
	if len(forms) < 5 {
		t.Fatalf("%d forms", len(forms))
	}
	for _, f := range forms {
		sends := strings.Contains(f, `method="post" action=`)
		waits := regexp.MustCompile(`(?s)^<form[^>]*><fieldset disabled>.*</fieldset></form>$`).MatchString(f)
		if sends == waits {
			t.Errorf("%s", f)
		}
	}
	script, err := os.ReadFile("static/studio.js")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), ".disabled = false") {
		t.Error("the script does not enable the forms")
	}
}
