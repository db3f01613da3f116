package profile_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/pkg/apperr"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
)

func text(s string) *string { return &s }

func set(s string) operator.Change { return operator.Change{Given: true, Text: &s} }

func TestCheck(t *testing.T) {
	t.Parallel()
	link := "https://a.example/" + strings.Repeat("x", 482)
	for name, c := range map[string]struct {
		p    operator.Profile
		want *apperr.Fault
	}{
		"nothing":               {operator.Profile{}, nil},
		"all":                   {operator.Profile{DisplayName: text("Mara K"), Bio: text("a\nb"), Avatar: set(link), Links: []string{link}, PayoutAddress: set("0x" + strings.Repeat("2", 40))}, nil},
		"cleared":               {operator.Profile{Bio: text(""), Avatar: operator.Change{Given: true}, Links: []string{}, PayoutAddress: operator.Change{Given: true}}, nil},
		"64":                    {operator.Profile{DisplayName: text(strings.Repeat("語", 64))}, nil},
		"65":                    {operator.Profile{DisplayName: text(strings.Repeat("a", 65))}, profile.ErrDisplayName},
		"no name":               {operator.Profile{DisplayName: text("")}, profile.ErrDisplayName},
		"blank name":            {operator.Profile{DisplayName: text("  ")}, profile.ErrDisplayName},
		"a separator":           {operator.Profile{DisplayName: text("a\u2028b")}, profile.ErrDisplayName},
		"invisible name":        {operator.Profile{DisplayName: text("\u200b\u00a0")}, profile.ErrDisplayName},
		"joined emoji":          {operator.Profile{DisplayName: text("\U0001f469\u200d\U0001f680")}, nil},
		"two lines":             {operator.Profile{DisplayName: text("a\nb")}, profile.ErrDisplayName},
		"not UTF-8":             {operator.Profile{DisplayName: text("a"), Bio: text("a\x00")}, profile.ErrBio},
		"280":                   {operator.Profile{Bio: text(strings.Repeat("é", 280))}, nil},
		"281":                   {operator.Profile{Bio: text(strings.Repeat("a", 281))}, profile.ErrBio},
		"http avatar":           {operator.Profile{Avatar: set("http://a.example/x.png")}, profile.ErrAvatar},
		"script avatar":         {operator.Profile{Avatar: set("javascript:alert(1)")}, profile.ErrAvatar},
		"empty avatar":          {operator.Profile{Avatar: set("")}, profile.ErrAvatar},
		"a long link":           {operator.Profile{Links: []string{link + "x"}}, profile.ErrLinks},
		"six links":             {operator.Profile{Links: strings.Split(strings.Repeat("https://a.example ", 6)[:6*18-1], " ")}, profile.ErrLinks},
		"a link with a user":    {operator.Profile{Links: []string{"https://a@b.example"}}, profile.ErrLinks},
		"payout of 39":          {operator.Profile{PayoutAddress: set("0x" + strings.Repeat("2", 39))}, profile.ErrPayout},
		"payout with checksum":  {operator.Profile{PayoutAddress: set("0x52908400098527886E0F7030069857D2E4169EE7")}, nil},
		"payout, bad checksum":  {operator.Profile{PayoutAddress: set("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"[:41] + "d")}, nil},
		"payout of zeros":       {operator.Profile{PayoutAddress: set("0x" + strings.Repeat("0", 40))}, profile.ErrPayout},
		"payout of other cases": {operator.Profile{PayoutAddress: set("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")}, profile.ErrPayout},
	} {
		_, err := profile.Check(c.p)
		if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	p, err := profile.Check(operator.Profile{PayoutAddress: set("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")})
	if err != nil || *p.PayoutAddress.Text != "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" {
		t.Errorf("%v %v", p.PayoutAddress.Text, err)
	}
}

// writer is a fake of the ledger that records profile updates.
type writer struct {
	operatorv1.OperatorServiceClient
	notification.Notices
	ids      []string
	got      []*operatorv1.UpdateProfileRequest
	notified []string // texts; each notification fails
	deleted  []operator.ID
}

func (w *writer) DeletePicture(_ context.Context, of operator.ID) error {
	w.deleted = append(w.deleted, of)
	return nil
}

func (w *writer) Notify(_ context.Context, user operator.ID, kind notification.Kind, _, text string, _ time.Time) error {
	w.notified = append(w.notified, string(user)+" "+string(kind)+" "+text)
	return errors.New("no notification")
}

func (w *writer) UpdateProfile(_ context.Context, r *operatorv1.UpdateProfileRequest, _ ...grpc.CallOption) (*operatorv1.UpdateProfileResponse, error) {
	w.ids, w.got = append(w.ids, r.GetMessageId()), append(w.got, r)
	return &operatorv1.UpdateProfileResponse{}, nil
}

var noon = time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)

// TestClearedAvatar checks that a change of the profile deletes the stored picture only if it clears avatarUrl.
func TestClearedAvatar(t *testing.T) {
	t.Parallel()
	w := &writer{}
	s := profile.NewService(w, w, nil, func() string { return "one" }, func() time.Time { return noon })
	own := set("http://localhost/u/mara/picture")
	for _, p := range []operator.Profile{
		{Bio: text("x")}, {Avatar: set("https://a.example/x.png")}, {Avatar: own, OwnPicture: true},
	} {
		if err := s.Update(t.Context(), "me", noon, p); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.got) != 3 || len(w.deleted) != 0 {
		t.Errorf("%d writes, %d deletions; want 3 and none", len(w.got), len(w.deleted))
	}
	if err := s.Update(t.Context(), "me", noon, operator.Profile{Avatar: operator.Change{Given: true}}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.deleted, []operator.ID{"me"}) {
		t.Errorf("deleted %v", w.deleted)
	}
}

// TestUpdate checks that each update has a new message id, and that an empty or invalid update sends nothing.
func TestUpdate(t *testing.T) {
	t.Parallel()
	w, n := &writer{}, 0
	s := profile.NewService(w, nil, nil, func() string { n++; return strconv.Itoa(n) }, func() time.Time { return noon })
	for range 2 {
		if err := s.Update(t.Context(), "me", noon, operator.Profile{Bio: text("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Update(t.Context(), "me", noon, operator.Profile{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), "me", noon, operator.Profile{Links: []string{"x"}}); !errors.Is(err, profile.ErrLinks) {
		t.Errorf("%v", err)
	}
	if len(w.ids) != 2 || w.ids[0] == w.ids[1] || len(w.ids[0]) != 68 || *w.got[1].Bio != "x" {
		t.Errorf("%v %v", w.ids, w.got)
	}
}

func TestPayoutAddressNeedsARecentSignIn(t *testing.T) {
	t.Parallel()
	w := &writer{}
	s := profile.NewService(w, w, slog.New(slog.DiscardHandler), func() string { return "one" }, func() time.Time { return noon })
	change := operator.Profile{Bio: text("x"), PayoutAddress: operator.Change{Given: true, Text: text("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")}}
	for name, c := range map[string]struct {
		signedInAt time.Time
		want       error
	}{
		"a key":                  {time.Time{}, operator.ErrSession},
		"a session of yesterday": {noon.Add(-24 * time.Hour), operator.ErrSession},
		"one second too old":     {noon.Add(-operator.FreshSignIn - time.Second), operator.ErrSession},
		"fifteen minutes":        {noon.Add(-operator.FreshSignIn), nil},
		"just now":               {noon, nil},
	} {
		before := len(w.got)
		err := s.Update(t.Context(), "me", c.signedInAt, change)
		if !errors.Is(err, c.want) || (len(w.got) > before) != (c.want == nil) {
			t.Errorf("%s: %v, %d writes", name, err, len(w.got)-before)
		}
	}
	if err := s.Update(t.Context(), "me", time.Time{}, operator.Profile{PayoutAddress: operator.Change{Given: true}}); !errors.Is(err, operator.ErrSession) {
		t.Errorf("removing the address with a key: %v", err)
	}
	const told = "me payout_changed 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	if !slices.Equal(w.notified, []string{told, told}) {
		t.Errorf("notifications: %q", w.notified)
	}
	if err := s.Update(t.Context(), "me", time.Time{}, operator.Profile{Automated: true}); err != nil || !w.got[len(w.got)-1].Automated {
		t.Errorf("setting only automated: %v", err)
	}
}
