package stack

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"testing"
)

// UploadPicture stores a picture of the operator with the form of the profile page, which replaces the whole profile.
func (o *Operator) UploadPicture(t testing.TB, session Set) {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"displayName": {o.Handle}, "picture": {base64.RawURLEncoding.EncodeToString(file.Bytes())}}
	o.Do(t, http.MethodPost, o.s.Hub+"/profile", session, Form(form)).Require(http.StatusSeeOther)
}
