package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// embeds are the pages that other sites may show in a frame.
var embeds = []string{"/operator/{handle}/embed", "/overlay/{handle}"}

// controls matches the elements and attributes with which a visitor can trigger an action. Links are not included,
// because they only open a page.
var controls = regexp.MustCompile(`(?i)<(form|button|input|select|textarea|iframe|object|embed)\b|\son[a-z]+\s*=`)

// TestFraming checks that other sites can frame only the embeds, and that the embeds contain no controls.
func TestFraming(t *testing.T) {
	t.Parallel()
	s, doc, crowd := webStack(t), openapi.ForTest(t), stack.NewCrowd(50)
	person, wantsHTML := s.NewOperator(t), stack.Header("Accept", "text/html")
	session, anonymous := person.Session(t), stack.Set(func(*http.Request) {})
	existing := map[string]string{"marketId": s.NewNativeMarket(t, 5000, nil), "handle": person.Handle}
	var pages, framed atomic.Int64
	stack.Each(len(doc.Operations), 3, func(i int) {
		o := doc.Operations[i]
		if o.Host != "hub" || o.Method != http.MethodGet || o.Streams() || o.Health() {
			return
		}
		for _, credential := range []stack.Set{anonymous, session} {
			for _, values := range []map[string]string{existing, nil} {
				a := crowd.Retry(t, http.MethodGet, s.HubAt(i)+o.Fill(values), credential, wantsHTML)
				if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
					continue
				}
				pages.Add(1)
				if a.Status == http.StatusOK && slices.Contains(embeds, o.Path) {
					framed.Add(1)
					requireEmbed(t, o.Path, a)
				} else if ancestors, options := framingOf(a); ancestors != "'none'" || options != "DENY" {
					t.Errorf("%s (status %d) has frame-ancestors %q and X-Frame-Options %q; want 'none' and DENY", o.Path, a.Status, ancestors, options)
				}
			}
		}
	})
	if pages.Load() <= 40 || framed.Load() < 4 {
		t.Errorf("%d pages and %d embeds were checked; want more than 40 and at least 4", pages.Load(), framed.Load())
	}
}

// framingOf returns the values of the directive frame-ancestors and of the header X-Frame-Options. It joins the values of
// repeated headers.
func framingOf(a stack.Answer) (ancestors, options string) {
	for directive := range strings.SplitSeq(strings.Join(a.Header.Values("Content-Security-Policy"), ";"), ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(directive), " "); name == "frame-ancestors" {
			ancestors += value
		}
	}
	return ancestors, strings.Join(a.Header.Values("X-Frame-Options"), ",")
}

func requireEmbed(t *testing.T, path string, a stack.Answer) {
	t.Helper()
	if ancestors, options := framingOf(a); ancestors != "*" || options != "" {
		t.Errorf("%s has frame-ancestors %q and X-Frame-Options %q; want * and no X-Frame-Options", path, ancestors, options)
	}
	if n := len(a.Cookies()); n > 0 {
		t.Errorf("%s sets %d cookies; want none in a frame", path, n)
	}
	if found := controls.Find(a.Body); found != nil {
		t.Errorf("%s contains %q; want no controls in a frame", path, found)
	}
}
