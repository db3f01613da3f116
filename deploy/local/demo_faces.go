package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// signInPath is the route that starts a session for an identity token.
const signInPath = "/api/auth/privy"

// faceSize is the width and the height of a face in pixels.
const faceSize = 192

// face returns a PNG of a simple face. The same name gets the same face.
func face(name string) ([]byte, error) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, name)
	n := int(h.Sum32() >> 1)
	ground := color.RGBA{uint8(60 + n%140), uint8(60 + n/140%140), uint8(60 + n/19600%140), 255}
	colors := color.Palette{ground, color.RGBA{255, 224, 178, 255}, color.RGBA{38, 32, 44, 255}}
	eyes, smile := 26+n%9, 14+n/9%16
	img := image.NewPaletted(image.Rect(0, 0, faceSize, faceSize), colors)
	for y := range faceSize {
		for x := range faceSize {
			dx, dy := max(x-96, 96-x), y-104
			mouth := dy - 30 - (34*34-dx*dx)*smile/(34*34)
			switch {
			case dx*dx+dy*dy > 72*72:
			case (dx-eyes)*(dx-eyes)+(dy+16)*(dy+16) < 64, dx < 34 && max(mouth, -mouth) < 4:
				img.SetColorIndex(x, y, 2)
			default:
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
}

// formToken matches the token in a form of a page.
var formToken = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// introduce sets the name, the text and the picture of a bot with the form of the profile page, and claims a wallet as its payout
// address. The key of that wallet does not exist.
func (b *bot) introduce(ctx context.Context, p persona) error {
	picture, err := face(p.name)
	if err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Transport: b.http.Transport, Timeout: answerWithin}
	send := func(method, path, body, contentType string) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, method, b.stack.Hub+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Origin", b.stack.Hub)
		r.Header.Set("Content-Type", contentType)
		if path == signInPath {
			r.Header.Set("Authorization", "Bearer "+b.token)
		}
		a, err := browser.Do(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = a.Body.Close() }()
		if a.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s %s answered %d", method, path, a.StatusCode)
		}
		return io.ReadAll(a.Body)
	}
	if _, err := send(http.MethodPost, signInPath, "{}", "application/json"); err != nil {
		return err
	}
	page, err := send(http.MethodGet, "/settings/profile", "", "")
	if err != nil {
		return err
	}
	found := formToken.FindSubmatch(page)
	if found == nil {
		return fmt.Errorf("the profile page of @%s has no form", b.handle)
	}
	form := url.Values{
		"csrf": {string(found[1])}, "displayName": {p.title}, "bio": {p.bio},
		"picture": {base64.RawURLEncoding.EncodeToString(picture)},
	}
	if _, err := send(http.MethodPost, "/profile", form.Encode(), "application/x-www-form-urlencoded"); err != nil {
		return err
	}
	wallet := fmt.Sprintf("0x%x", sha256.Sum256([]byte(p.name)))[:42]
	body := fmt.Sprintf(`{"address":%q,"chainType":"ethereum"}`, wallet)
	if err := b.askOnce(ctx, http.MethodPost, b.stack.IDP+"/users/did:idp:"+p.name+"/wallets", body, &struct{}{}); err != nil {
		return err
	}
	if _, err := send(http.MethodPost, "/api/identity/claim", fmt.Sprintf(`{"address":%q}`, wallet), "application/json"); err != nil {
		return err
	}
	_, err = send(http.MethodPost, "/api/streamer/profile", fmt.Sprintf(`{"payoutAddress":%q}`, wallet), "application/json")
	return err
}
