package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"

	"github.com/signalcast/signalcast/pkg/conf"
)

// TestStreamsAndPinsOverTwoHubs: what one hub stores, the other one shows, and the
// hosts of VIDEO_HOSTS are the only ones.
func TestStreamsAndPinsOverTwoHubs(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	w.environ["VIDEO_HOSTS"] = "video-a.example,video-b.example:8443"
	w.ledger.Tiles = map[string][]*cataloguev1.Tile{"": {
		{Id: "a", MarketId: "7", Label: "A", Title: "A", Lane: "OTHER", MarketCount: 1},
		{Id: "b", MarketId: "701122", Label: "B", Title: "B", Lane: "OTHER", MarketCount: 1, YesBps: proto.Int32(1)},
	}}
	one, two := w.hub(), w.hub()
	one.ready()
	two.ready()
	key := "Bearer " + w.ledger.AddKey(w.ledger.AddOperator("mara_k").GetId())
	bind := func(url string) (int, string) {
		status, _, body := one.do("POST", "/api/m/701122/streams", fmt.Sprintf(`{"url":%q}`, url), "Authorization", key)
		return status, body
	}
	if status, body := bind("https://elsewhere.example/x.m3u8"); status != 400 || !strings.Contains(body, "invalid_url") {
		t.Error(status, body)
	}
	if status, body := bind("https://video-b.example:8443/x.m3u8"); status != 200 || !strings.Contains(body, `"handle":"mara_k"`) {
		t.Error(status, body)
	}
	if status, _, body := two.do("GET", "/api/m/701122/streams", ""); status != 200 || !strings.Contains(body, "video-b.example:8443/x.m3u8") {
		t.Error(status, body)
	}
	if status, _, body := one.do("POST", "/api/admin/pins", `{"marketId":"701122","label":"In front"}`, "X-Admin-Secret", good()["ADMIN_SECRET"]); status != 200 {
		t.Fatal(status, body)
	}
	for _, h := range []*hub{one, two} {
		status, head, body := h.do("GET", "/api/polymarket/featured", "")
		first, second := strings.Index(body, `"In front"`), strings.Index(body, `"A"`)
		if status != 200 || head.Get("X-Degraded") != "" || first < 0 || second < first {
			t.Error(status, head, body)
		}
	}
	if status, _, body := two.do("DELETE", "/api/m/701122/streams", "", "Authorization", key); status != 200 || !strings.Contains(body, `"removed":true`) {
		t.Error(status, body)
	}
}

func TestVideoHosts(t *testing.T) {
	t.Parallel()
	load := func(hosts string) (Config, error) {
		environ := good()
		environ["VIDEO_HOSTS"] = hosts
		return conf.LoadFrom[Config](environ)
	}
	if cfg, err := load("video-a.example,video-b.example:8443"); err != nil || !slices.Equal(cfg.Videos, []string{"video-a.example", "video-b.example:8443"}) {
		t.Errorf("%v %v", cfg.Videos, err)
	}
	for _, bad := range []string{
		"https://video-a.example", "video-a.example/x", "u@video-a.example", "Video-A.example", "video-a.example:443", "video-a.example,,x",
		"video-a.example, video-b.example", "*.example", ":8443", "video-a.example:port", "video-a.example?x",
	} {
		if _, err := load(bad); err == nil || !strings.Contains(err.Error(), "VIDEO_HOSTS") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
