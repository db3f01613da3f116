package web_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/fault"
	"github.com/signalcast/signalcast/pkg/web"
)

func TestValues(t *testing.T) {
	t.Parallel()
	const form, js = "application/x-www-form-urlencoded; charset=UTF-8", "application/json"
	for _, c := range []struct {
		kind, body string
		code, want string
	}{
		{form, "grant_type=refresh_token&refresh_token=drt_a%2Bb+c", "", "drt_a+b c"},
		{js, `{"grant_type":"refresh_token","refresh_token":"drt_a+b c","scope":null}`, "", "drt_a+b c"},
		{form, "", "", ""},
		{form, "refresh_token=a&refresh_token=b", "invalid_body", ""},
		{form, "refresh_token=%zz", "invalid_body", ""},
		{form, "refresh_token=%ff", "invalid_body", ""},
		{form, "refresh_token=%00", "invalid_body", ""},
		{form, "a=b;c=d", "invalid_body", ""},
		{form, "x=" + strings.Repeat("x", 100), "payload_too_large", ""},
		{js, `{"refresh_token":1}`, "invalid_refresh_token", ""},
		{js, `{"refresh_token":"a","refresh_token":"b"}`, "invalid_body", ""},
		{"text/plain", "refresh_token=a", "unsupported_media_type", ""},
		{"multipart/form-data; boundary=x", "--x--", "unsupported_media_type", ""},
	} {
		got, err := web.Values(request(t, strings.NewReader(c.body), "Content-Type", c.kind), 90)
		var f *fault.Fault
		switch {
		case c.code == "" && (err != nil || got["refresh_token"] != c.want):
			t.Errorf("%s %q: %v %v", c.kind, c.body, got, err)
		case c.code != "" && (!errors.As(err, &f) || f.Code != c.code):
			t.Errorf("%s %q: %v, want %s", c.kind, c.body, err, c.code)
		}
	}
}
