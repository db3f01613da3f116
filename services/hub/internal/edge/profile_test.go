package edge_test

import (
	"net/http"
	"strings"
	"testing"
)

const profilePath = "/api/streamer/profile"

// TestProfile: a key or a session changes what its owner says of itself, and nothing
// else; everybody reads it.
func TestProfile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ledger.AddOperator("tide")
	read := func() string { return b.send("GET", profilePath+"?handle=mara_k", "").Body.String() }
	all := `{"displayName":"Mara K","bio":"Rivers.","avatarUrl":"https://p.example/m.png","links":["https://m.example"],"payoutAddress":"` + strings.ToLower(wallet) + `","lanes":[],"handle":"tide"}`
	w := b.send("POST", profilePath, all, b.bySession())
	golden(t, "profile_changed", w)
	if field(b.send("GET", "/api/network/payout/mara_k", ""), "payoutAddress") != wallet {
		t.Error("the payout address is not where it belongs, or not in its one spelling")
	}
	first := b.send("GET", profilePath+"?handle=mara_k", "")
	if first.Code != 200 || first.Header().Get("Cache-Control") != "public, s-maxage=10" || first.Header().Get("ETag") == "" {
		t.Errorf("%d %v", first.Code, first.Header())
	}
	if again := b.send("GET", profilePath+"?handle=mara_k", "", with("If-None-Match", first.Header().Get("ETag"))); again.Code != http.StatusNotModified {
		t.Errorf("%d", again.Code)
	}
	want(t, b.send("POST", profilePath, `{}`, b.byKey()), 200, "")
	if read() != first.Body.String() {
		t.Errorf("nothing given changed something: %s", read())
	}
	want(t, b.send("POST", profilePath, `{"avatarUrl":null,"links":[],"payoutAddress":""}`, b.bySession()), 200, "")
	if now := read(); !strings.Contains(now, `"avatarUrl":null`) || !strings.Contains(now, `"links":[]`) || !strings.Contains(now, `"bio":"Rivers."`) {
		t.Error(now)
	}
	if field(b.send("GET", "/api/network/payout/mara_k", ""), "eligible") != "false" {
		t.Error("the payout address was not taken away")
	}
	if other := b.send("GET", profilePath+"?handle=tide", "").Body.String(); strings.Contains(other, "Rivers") {
		t.Errorf("somebody else was changed: %s", other)
	}
	want(t, b.send("GET", profilePath, ""), 400, "missing_handle")
	want(t, b.send("GET", profilePath+"?handle=nobody", ""), 404, "not_found")
	want(t, b.send("GET", profilePath+"?handle=..", ""), 404, "not_found")
}

func TestProfileIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, code := range map[string]string{
		`{"displayName":""}`: "invalid_display_name",
		`{"displayName":7}`:  "invalid_display_name",
		`{"displayName":"` + strings.Repeat("x", 65) + `"}`:                                   "invalid_display_name",
		`{"bio":"` + strings.Repeat("x", 281) + `"}`:                                          "invalid_bio",
		`{"avatarUrl":"http://p.example/m.png"}`:                                              "invalid_avatar_url",
		`{"avatarUrl":true}`:                                                                  "invalid_avatar_url",
		`{"links":"https://m.example"}`:                                                       "invalid_links",
		`{"links":["javascript:alert(1)"]}`:                                                   "invalid_links",
		`{"links":["https://a","https://b","https://c","https://d","https://e","https://f"]}`: "invalid_links",
		`{"payoutAddress":"0x12"}`:                                                            "invalid_payout_address",
		`{"payoutAddress":"0x52908400098527886e0F7030069857D2E4169EE7"}`:                      "invalid_payout_address",
		`{"lanes":["HOPSCOTCH"]}`:                                                             "invalid_lanes",
		`[]`:                                                                                  "invalid_body",
	} {
		want(t, b.send("POST", profilePath, body, b.bySession()), 400, code)
	}
	good := `{"bio":"x"}`
	want(t, b.send("POST", profilePath, good), 401, "unauthenticated")
	want(t, b.send("POST", profilePath, good, byLogin("mara_k")), 401, "unauthenticated")
	want(t, b.send("POST", profilePath, good, with("Cookie", b.cookie)), 403, "forbidden")
	want(t, b.send("POST", profilePath, good, with("Cookie", b.cookie), with("Origin", "https://evil.example")), 403, "forbidden")
	if n := b.ledger.Count("UpdateProfile"); n != 0 {
		t.Errorf("%d profiles were written", n)
	}
}
