package federation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// keep is how long a hub here shows a partner that is gone.
const keep = 12 * time.Second

// site is one whole stack with an operator who has a record, and a clip.
type site struct {
	*stack.Stack
	name   string
	handle string
	key    client.Key
	http   *client.Client
}

// programs builds everything once.
func programs(t *testing.T) string {
	t.Helper()
	root, err := stack.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := room(t)
	if err := stack.Build(t.Context(), root, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// room is a directory that a database of another user may look into.
func room(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "signalcast-federation-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// open starts a site and gives it something to show.
func open(t *testing.T, bin, name string) *site {
	t.Helper()
	ctx := t.Context()
	st, err := stack.Start(ctx, stack.Options{Bin: bin, Dir: filepath.Join(room(t), name), Hubs: 1, Env: map[string]string{
		"RATE_LIMIT_ANON": "0", "FEDERATION_ALLOW_PRIVATE": "true", "FEDERATION_EVERY": "1s", "FEDERATION_KEEP": keep.String(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Stop)
	s := &site{Stack: st, name: name, http: client.New()}
	t.Cleanup(s.http.Close)
	login, err := s.http.Login(ctx, s.IDP, name+"-mara")
	s.must(t, err)
	_, user, err := s.http.SignIn(ctx, s.Hub, login)
	s.must(t, err)
	s.handle = user.Handle
	var minted client.MintedKey
	s.must(t, s.http.Do(ctx, client.Request{URL: s.Hub + "/api/dev/keys", As: login, Body: map[string]any{
		"label": "desk", "permissions": []string{"read", "signal", "broadcast"},
	}}).Into(http.StatusCreated, &minted))
	s.key = minted.Key
	market, err := s.http.Market(ctx, s.Hub, client.Admin(s.AdminSecret), "Will the river of "+name+" rise?", 5000)
	s.must(t, err)
	s.must(t, s.http.File(ctx, s.Hub, s.key, client.Call{Market: market, Yes: true, Price: 5000}).Into(http.StatusOK, nil))
	s.must(t, s.http.Finalize(ctx, s.Hub, client.Admin(s.AdminSecret), market, "YES").Into(http.StatusOK, nil))
	s.clip(t, market)
	return s
}

func (s *site) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
}

// clip puts a clip that is ready on the shelf: nobody cuts any yet.
func (s *site) clip(t *testing.T, market string) {
	t.Helper()
	ctx := t.Context()
	db, err := pgx.Connect(ctx, s.DatabaseURL)
	s.must(t, err)
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	_, err = db.Exec(ctx, `INSERT INTO hub.clips (id, handle, market_id, url, status, created_by, created_at, ready_at)
		VALUES (gen_random_uuid(), $1, $2, 'https://video.example/clip.m3u8', 'ready', $1, now() - interval '1 minute', now())`, s.handle, market)
	s.must(t, err)
}

// partner registers another address at this site and lets it in.
func (s *site) partner(t *testing.T, id, base, tapes, operators string) {
	t.Helper()
	ctx := t.Context()
	s.must(t, s.http.Do(ctx, client.Request{URL: s.API + "/api/v1/stations", As: s.key, Body: map[string]any{
		"stationId": id, "name": "Station " + id, "url": base, "tapesUrl": tapes, "operatorsUrl": operators,
	}}).Into(http.StatusCreated, nil))
	s.must(t, s.http.Do(ctx, client.Request{URL: s.API + "/api/v1/stations/" + id + "/status", As: client.Admin(s.AdminSecret), Body: map[string]any{"status": "active"}}).Into(http.StatusOK, nil))
}

// row is a row of either list.
type row struct {
	ID        string `json:"id"`
	Origin    string `json:"origin"`
	OriginURL string `json:"originUrl"`
	Handle    string `json:"handle"`
	Href      string `json:"href"`
	Score     int64  `json:"score"`
}

// rows reads a merged list and gives it in short, too: "origin/handle" in order.
func (s *site) rows(t *testing.T, list, query string) ([]row, string) {
	t.Helper()
	a := s.http.Do(t.Context(), client.Request{URL: s.Hub + "/api/network/" + list + query})
	var body map[string]json.RawMessage
	s.must(t, a.Into(http.StatusOK, &body))
	var out []row
	s.must(t, json.Unmarshal(body[list], &out))
	var short []string
	for _, r := range out {
		short = append(short, r.Origin+"/"+r.Handle)
	}
	return out, strings.Join(short, " ")
}

// eventually waits until something is so.
func eventually(t *testing.T, within time.Duration, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

func (s *site) sees(t *testing.T, what string) {
	t.Helper()
	var tapes, operators string
	eventually(t, 40*time.Second, fmt.Sprintf("%s sees %s", s.name, what), func() bool {
		_, tapes = s.rows(t, "tapes", "")
		_, operators = s.rows(t, "operators", "")
		return strings.Contains(tapes, what) && strings.Contains(operators, what)
	})
}
