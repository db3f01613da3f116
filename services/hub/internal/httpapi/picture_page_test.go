package httpapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// upload returns the field of a form with a picture in one grey.
func upload(t testing.TB, grey uint8) string {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 60, 40))
	for i := range img.Pix {
		img.Pix[i] = grey
	}
	var out bytes.Buffer
	must(t, png.Encode(&out, img))
	return base64.RawURLEncoding.EncodeToString(out.Bytes())
}

// pathOfPicture returns the path and the query with which pages request the picture of mara_k.
func pathOfPicture(avatarURL string) string {
	sum := sha256.Sum256([]byte(avatarURL))
	return "/u/mara_k/picture?v=" + hex.EncodeToString(sum[:4])
}

// saveProfile sends the profile form of mara_k with a picture, its address, and the address that the form showed.
func (b *fixture) saveProfile(former, avatarURL, picture string) *answer {
	b.t.Helper()
	form := url.Values{
		"displayName": {"Mara K"}, "bio": {"typed"}, "formerAvatarUrl": {former}, "avatarUrl": {avatarURL}, "picture": {picture},
	}
	return b.post("/profile", form, b.bySession())
}

// TestPictureForm checks the upload of a picture and its address, the pages that show it, and its end.
func TestPictureForm(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	const own, path = hubURL + "/u/mara_k/picture", "/u/mara_k/picture"
	avatar := func() string { return b.operator("mara_k").GetAvatarUrl() }
	tag := func() string {
		return `<img src="` + pathOfPicture(avatar()) + `" alt="" width="192" height="192" loading="lazy" decoding="async">`
	}
	html := with("Accept", "text/html")
	grey := func(want uint8) {
		t.Helper()
		w := b.send("GET", path, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "image/jpeg" || w.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Fatalf("status %d, %v", w.Code, w.Header())
		}
		again := b.send("GET", path, "", with("If-None-Match", w.Header().Get("ETag")))
		equal(t, again.Code, http.StatusNotModified)
		img, err := jpeg.Decode(w.Body)
		must(t, err)
		got := color.GrayModel.Convert(img.At(9, 9)).(color.Gray).Y //nolint:forcetypeassert // by GrayModel
		if img.Bounds() != image.Rect(0, 0, 192, 192) || max(got, want)-min(got, want) > 4 {
			t.Errorf("size %v, grey %d; want %d", img.Bounds(), got, want)
		}
	}
	want(t, b.send("GET", path, ""), 404, "not_found")
	want(t, b.send("GET", "/u/nobody_1/picture", ""), 404, "not_found")
	want(t, b.send("GET", "/u/mara_k", "", html), 200, "", "!<img")

	// A refused form keeps what was typed and stores nothing.
	want(t, b.saveProfile("", "http://a.example/x.png", ""), 400, "", "starts with https://", ` value="http://a.example/x.png"`,
		">typed<")
	want(t, b.saveProfile("", "https://127.0.0.1/x.png", ""), 400, "", "This address does not answer with a picture.",
		` value="https://127.0.0.1/x.png"`, ">typed<")
	want(t, b.saveProfile("", "https://127.0.0.1/y.png", ""), 400, "", "Save again in a few seconds.")
	b.clock.Advance(5 * time.Second)
	want(t, b.saveProfile("", own, ""), 400, "", "This address does not answer with a picture.")
	want(t, b.saveProfile("", "", "bm8gcGljdHVyZQ"), 400, "", "This file is not a picture that can be read.",
		`<div id="chosen" hidden>`, ` name="picture" value="" autocomplete`)
	want(t, b.saveProfile("", "", "%%%"), 400, "", "This file is not a picture that can be read.")
	equal(t, b.operator("mara_k").GetAvatarUrl()+b.operator("mara_k").GetBio(), "")
	want(t, b.send("GET", path, ""), 404, "not_found")

	chosen := upload(t, 200)
	form := url.Values{"displayName": {""}, "formerAvatarUrl": {"https://former.example/"}, "picture": {chosen}}
	want(t, b.post("/profile", form, b.bySession()), 400, "", `<div id="chosen"><label class="tick">`,
		`<input type="checkbox" name="picture" value="`+chosen+`" checked autocomplete="off"> Use the chosen picture</label></div>`,
		` name="formerAvatarUrl" value="https://former.example/"`)
	want(t, b.saveProfile("", "https://ignored.example/x.png", upload(t, 200)), http.StatusSeeOther, "")
	first := avatar()
	if !regexp.MustCompile(`^` + own + `\?v=[0-9a-f]{8}$`).MatchString(first) {
		t.Errorf("avatarUrl is %s", first)
	}
	grey(200)
	want(t, b.send("GET", "/settings/profile", "", b.bySession()), 200, "", ` name="formerAvatarUrl" value="`+first+`"`)
	want(t, b.saveProfile(first, first, ""), http.StatusSeeOther, "") // no change
	want(t, b.saveProfile("", "", ""), http.StatusSeeOther, "")       // the form was shown before the upload
	want(t, b.saveProfile("", first, ""), http.StatusSeeOther, "")
	grey(200)
	want(t, b.saveProfile(first, first, upload(t, 90)), http.StatusSeeOther, "")
	grey(90)
	if avatar() == first {
		t.Error("avatarUrl is the same after another upload")
	}
	want(t, b.saveProfile(first, first, ""), http.StatusSeeOther, "")
	grey(90)
	for query, cache := range map[string]string{
		"": "public, max-age=300", "?v=": "public, max-age=300", pathOfPicture(first)[len(path):]: "public, max-age=300",
		pathOfPicture(avatar())[len(path):]: "public, max-age=86400, s-maxage=300",
	} {
		want(t, b.send("GET", path+query, ""), 200, "", "Cache-Control: "+cache)
	}
	tide := with("Cookie", b.signIn(b.ledger.AddOperator("tide")))
	want(t, b.post("/u/mara_k/follow", url.Values{}, tide, with("Origin", hubURL)), http.StatusSeeOther, "")
	for path, by := range map[string]header{
		"/u/mara_k": html, "/settings/profile": b.bySession(), "/markets": b.bySession(), "/live/mara_k": html, "/following": tide,
		"/compare?a=mara_k&b=tide": html,
	} {
		w := b.send("GET", path, "", by, html)
		want(t, w, 200, "", tag(), `<i class="avatar`)
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "img-src 'self'") {
			t.Errorf("%s: %s", path, w.Header().Get("Content-Security-Policy"))
		}
	}
	if files := unzip(t, b.send("GET", b.startExport(), "", b.bySession())); !strings.HasPrefix(files["picture.jpg"], "\xff\xd8") {
		t.Errorf("the export has the picture %.10q", files["picture.jpg"])
	}

	b.ledger.Exec(`INSERT INTO hub.streamer_profiles (handle, status, lanes, updated_at)
		VALUES ('mara_k', 'suspended', '{}', now())`)
	want(t, b.send("GET", path, ""), 404, "not_found")
	b.ledger.Exec(`UPDATE hub.streamer_profiles SET status = 'approved'`)
	want(t, b.post("/settings/delete", url.Values{"handle": {"mara_k"}}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("GET", path, ""), 404, "not_found")
	want(t, b.send("GET", "/settings/profile", "", b.bySession()), 200, "", `<i class="avatar`, "!<img")
	want(t, b.post("/settings/delete/cancel", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	grey(90)

	last := avatar()
	want(t, b.post("/settings/handle", url.Values{"handle": {"mara"}}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.send("GET", path, ""), http.StatusMovedPermanently, "", "Location: /u/mara/picture")
	moved := strings.Replace(last, "mara_k", "mara", 1)
	address := func() string {
		source := apitest.Get[string](b.ledger, `SELECT string_agg(source, ',') FROM hub.pictures`)
		return b.operator("mara").GetAvatarUrl() + " " + source
	}
	equal(t, address(), moved+" "+moved)
	want(t, b.send("GET", "/u/mara/picture", ""), 200, "")
	want(t, b.saveProfile(moved, moved, ""), http.StatusSeeOther, "")
	want(t, b.send("GET", "/u/mara/picture", ""), 200, "")
	b.ledger.Exec(`UPDATE users SET avatar_url = $1 WHERE handle = 'mara'`, last) // the change was interrupted
	h, me := b.handles(), operator.ID(b.mara.GetId())
	must(t, h.Store.MovePicture(t.Context(), me, moved, last))
	must(t, h.Store.StartHandleChange(t.Context(), me, "mara_k", b.clock.Now()))
	b.clock.Advance(2 * time.Minute)
	must(t, h.Settle(t.Context()))
	equal(t, address(), moved+" "+moved)
	equal(t, b.count("hub.handle_changes"), 0)

	hide := `{"kind":"profile","id":"mara","action":"hide","reason":"abuse"}`
	want(t, b.send("POST", moderationURL, hide, byAdmin(), with("X-Admin-Name", "ada")), 200, "")
	want(t, b.saveProfile("", "", ""), http.StatusSeeOther, "") // the form of a hidden profile has no address
	equal(t, b.count("hub.pictures"), 1)
	want(t, b.send("POST", moderationURL, strings.Replace(hide, "hide", "show", 1), byAdmin()), 200, "")
	want(t, b.send("GET", "/u/mara/picture", ""), 200, "")
	want(t, b.saveProfile(moved, "", ""), http.StatusSeeOther, "")
	equal(t, b.operator("mara").GetAvatarUrl(), "")
	equal(t, b.count("hub.pictures"), 0)
	want(t, b.send("GET", "/u/mara/picture", ""), 404, "not_found")
}

// TestPictureOfAnAddress checks that the hub makes the picture of an address once, and not again within an hour after a failure.
func TestPictureOfAnAddress(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	stored := func() string {
		return apitest.Get[string](b.ledger, `SELECT coalesce(string_agg(source || ' ' || (jpeg IS NULL) || ' '
			|| extract(epoch FROM tried_at)::bigint, ','), '') FROM hub.pictures`)
	}
	want(t, b.send("POST", profilePath, `{"avatarUrl":"https://127.0.0.1/x.png"}`, b.bySession()), 200, "")
	equal(t, stored(), "")
	began := b.clock.Now().Unix()
	want(t, b.send("GET", "/u/mara_k/picture", ""), 404, "not_found")
	first := stored()
	equal(t, first, "https://127.0.0.1/x.png true "+strconv.FormatInt(began, 10))
	b.clock.Advance(59 * time.Minute)
	want(t, b.send("GET", "/u/mara_k/picture", ""), 404, "not_found")
	equal(t, stored(), first)
	b.clock.Advance(time.Minute)
	want(t, b.send("GET", "/u/mara_k/picture", ""), 404, "not_found")
	if stored() == first {
		t.Error("the address was not requested again after an hour")
	}
	want(t, b.send("POST", profilePath, `{"avatarUrl":null}`, b.bySession()), 200, "")
	equal(t, stored(), "")
	want(t, b.send("POST", profilePath, `{"avatarUrl":"https://127.0.0.1/y.png"}`, b.bySession()), 200, "")
	b.setDown(true)
	want(t, b.send("GET", "/u/mara_k/picture", ""), 503, "db_unavailable")
}
