package contract

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// things are existing objects to which the requests of the tests refer.
type things struct {
	*stack.Author
	s       *stack.Stack
	session stack.Set
	app     *stack.App
	message string // id of a signed message
	code    string // code of a short URL
	clip    string // id of a clip
	export  string // id of an export of the session
}

func newThings(t *testing.T, s *stack.Stack) *things {
	t.Helper()
	x := &things{Author: s.NewAuthor(t), s: s}
	x.session, x.app = x.Session(t), x.NewApp(t, "public", "profile:read")
	x.UploadPicture(t, x.session)
	wallet := stack.NewWallet()
	x.LinkWallet(t, wallet)
	x.ClaimIdentity(t, wallet, x.session).Require(http.StatusOK)
	x.Send(t, "/api/streamer/profile", http.StatusOK, x.session, stack.JSON{"payoutAddress": wallet})
	body := stack.JSON{"marketId": s.NewNativeMarket(t, 5000, nil), "position": "NO", "priceBps": 4000}
	x.message = post(t, s.Hub+stack.ProtocolPath+"/predictions", stack.Bearer(x.Key),
		stack.Body(body)).Require(http.StatusOK).Text("messageId")
	x.clip = x.StoreClip(t, x.Market)
	post(t, s.Hub+"/settings/export", x.session, stack.Form(url.Values{})).Require(http.StatusSeeOther)
	_, link, _ := strings.Cut(string(get(t, s.Hub+"/settings", x.session).Require(http.StatusOK).Body), `"/settings/export/`)
	x.export, _, _ = strings.Cut(link, `"`)
	x.AddEmail(t)
	short := get(t, s.Hub+"/api/embed/operator/"+x.Handle).Require(http.StatusOK).Text("shortUrl")
	x.code = short[strings.LastIndex(short, "/")+1:]
	return x
}

// address returns the URL of a read operation. Its parameters refer to existing objects.
func (x *things) address(t *testing.T, o *openapi.Operation) string {
	t.Helper()
	id := x.CallID
	switch {
	case strings.Contains(o.Path, "/passports/"), strings.Contains(o.Path, "/card/"):
		id = x.Handle
	case strings.Contains(o.Path, "/messages/"):
		id = x.message
	case strings.HasPrefix(o.Path, "/clips/"):
		id = x.clip
	case strings.Contains(o.Path, "/webhooks/"):
		id = x.Webhook
	case strings.HasPrefix(o.Path, "/settings/export/"):
		id = x.export
	}
	file := "app.css"
	if strings.Contains(o.Path, "/docs/") {
		file = "concepts.html"
	}
	path := o.Fill(map[string]string{
		"marketId": x.Market, "handle": x.Handle, "id": id, "file": file, "appId": x.app.ID, "code": x.code, "kind": "operator",
	})
	query := url.Values{}
	for _, p := range o.Parameters() {
		if p.In == "query" && p.Required {
			query.Set(p.Name, x.parameter(t, o, p.Name))
		}
	}
	switch o.Path {
	case "/api/card/{kind}/{id}":
		query.Set("format", "json")
	case "/api/polymarket/market-history":
		query.Set("marketId", x.Market)
	case "/api/streamer/analytics":
		query.Set("handle", x.Handle)
	case "/protocol/authorize":
		query = x.app.AuthorizeRequest("profile:read")
	}
	return x.s.Base(o.Host, 0) + strings.TrimSuffix(path+"?"+query.Encode(), "?")
}

// parameter returns a valid value for a required query parameter.
func (x *things) parameter(t *testing.T, o *openapi.Operation, name string) string {
	t.Helper()
	switch {
	case strings.HasPrefix(o.Path, "/api/aura/"):
		return scored(t, x.s)
	case o.Path == "/api/polymarket/market":
		return x.s.NewVenueMarket(t, "polymarket", 0.4, nil).ID
	case o.Path == "/email/confirm":
		return x.EmailToken()
	case o.Path == "/unsubscribe":
		return x.UnsubscribeToken(t)
	case name == "subject":
		return "market:" + x.Market
	case name == "url":
		return x.s.Hub + "/u/" + x.Handle
	case name == "handle":
		return x.Handle
	case name == "denpaId":
		return x.ID
	}
	return x.Market
}

// scored returns the id of a market with an attention score. The api computes these scores every ten seconds.
func scored(t *testing.T, s *stack.Stack) (id string) {
	t.Helper()
	stack.Eventually(t, 30*time.Second, "a market with an attention score", func() bool {
		list := get(t, s.API+"/api/aura/top?limit=1").Require(http.StatusOK).List("markets")
		if len(list) == 1 {
			id, _ = list[0].(map[string]any)["marketId"].(string)
		}
		return id != ""
	})
	return id
}

// credential returns a credential that the operation accepts, or a Set without effect if the operation needs none.
func (x *things) credential(o *openapi.Operation) stack.Set {
	switch {
	case o.Takes("adminSecret"):
		return x.s.Admin()
	case o.Takes("operatorKey"):
		return stack.Bearer(x.Key)
	case o.Takes("identityToken"):
		return stack.Bearer(x.Login)
	case o.Takes("developerToken"):
		return stack.Header("Cookie", "db_dev="+x.Login)
	case o.Takes("sessionId") && (o.Tag() == "pages" || !o.Public()):
		return x.session
	}
	return func(*http.Request) {}
}

// TestReadsAnswer checks that each read of an existing object is answered successfully. An operation with an ETag must
// send it in the answer to HEAD too, and must answer 304 to a client that has the current version.
func TestReadsAnswer(t *testing.T) {
	t.Parallel()
	s, doc := system(t), openapi.ForTest(t)
	x := newThings(t, s)
	conditional := 0
	for _, o := range doc.Operations {
		if o.Method != http.MethodGet || o.Gone() || o.Streams() || written[o.Path] {
			continue
		}
		if o.Knows(http.StatusNotModified) {
			conditional++
		}
		t.Run(strings.TrimPrefix(o.Name(), "GET "), func(t *testing.T) {
			t.Parallel()
			address, as, asJSON := x.address(t, o), x.credential(o), stack.Header("Accept", "application/json")
			if a := get(t, address, as, asJSON); a.Status >= 400 {
				t.Fatalf("GET %s: %v; want a successful answer", address, a)
			}
			if !o.Knows(http.StatusNotModified) || o.Path == "/api/c/{code}" {
				return
			}
			for name, form := range map[string]func(tag string) string{
				"the tag":       func(tag string) string { return tag },
				"a strong tag":  func(tag string) string { return strings.TrimPrefix(tag, "W/") },
				"a list of all": func(tag string) string { return `"x", ` + tag + `, "y"` },
			} {
				stack.Eventually(t, 15*time.Second, "the answer 304 to "+name, func() bool { // the answer may change between the two requests
					tag := get(t, address, asJSON).Require(http.StatusOK).Header.Get("ETag")
					a := get(t, address, asJSON, stack.Header("If-None-Match", form(tag)))
					return a.Status == http.StatusNotModified && a.Header.Get("ETag") == tag
				})
			}
			get(t, address, asJSON, stack.Header("If-None-Match", `"other"`)).Require(http.StatusOK)
			head := stack.Send(t, http.MethodHead, address, asJSON).Require(http.StatusOK)
			if len(head.Body) != 0 || head.Header.Get("ETag") == "" {
				t.Errorf("HEAD was answered with %d bytes and the headers %v; want an ETag and no body", len(head.Body), head.Header)
			}
		})
	}
	if conditional < 15 {
		t.Errorf("%d read operations have an ETag; want at least 15", conditional)
	}
}

// written lists the paths of read operations that writes_test.go tests, and that TestReadsAnswer therefore skips.
var written = map[string]bool{
	"/s/{eventKey}": true, "/dev/session": true, "/api/v1/stations/{stationId}": true, "/api/v1/stations/{stationId}/program": true,
	"/api/protocol/v1/signers/{publicKey}": true, "/api/admin/resolve-signals": true,
}

// TestListsAcceptEveryParameter checks that the read of a list succeeds for every value of a parameter.
func TestListsAcceptEveryParameter(t *testing.T) {
	t.Parallel()
	s := system(t)
	market := s.NewNativeMarket(t, 5000, nil)
	values := []string{
		"", "0", "-1", "1", "1e9", "99999999999999999999", "x", "%00", "%ff", "null", "[]", strings.Repeat("9", 2000),
		"OTHER", "all,all",
		"%F0%9F%92%A9",
	}
	for _, list := range []struct{ url, parameters string }{
		{s.Hub + "/api/signals/feed", "type limit cursor"},
		{s.Hub + "/api/m/" + market + "/signals", "limit cursor"},
		{s.Hub + "/api/m/" + market + "/crowd", "x"},
		{s.Hub + "/api/resolution/markets", "status due limit"},
		{s.Hub + "/api/operator/leaderboard", "operators window lane limit"},
		{s.Hub + "/api/broadcast/program", "preset limit lanes"},
		{s.Hub + "/api/streamers/live", "limit"},
		{s.Hub + "/api/broadcast/schedule", "cat"},
		{s.Hub + "/api/broadcast/spotlight", "x"},
		{s.Hub + "/api/broadcast/feed", "limit cursor types"},
		{s.Hub + "/api/broadcast/bumpers", "limit"},
		{s.Hub + "/api/broadcast/influence", "window limit"},
		{
			s.Hub + "/api/network/program",
			"preset spec providers categories maxResolveHours minVolume maxVolume minYes maxYes topPerCategory limit lanes",
		},
		{s.API + "/api/v1/feed", "lane"}, // its other parameters are strict
		{s.API + "/api/v1/signals/leaderboard", "operators lane limit"},
		{s.Clock + "/program/timeline", "limit"},
		{s.Clock + "/program/channel", "preset limit"},
		{s.Clock + "/program/now", "lane preset"},
		{s.Clock + "/program/next", "lane preset"},
	} {
		address, err := url.Parse(list.url)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(address.Path, func(t *testing.T) {
			t.Parallel()
			for name := range strings.FieldsSeq(list.parameters) {
				for _, value := range values {
					a := get(t, list.url+"?"+name+"="+value)
					if a.Status != http.StatusOK || a.Header.Get("X-Degraded") != "" {
						t.Errorf("%s=%.40s was answered %v; want 200", name, value, a)
					}
				}
			}
		})
	}
}

// TestFeedRejectsInvalidParameters checks that the feed and its stream never ignore a parameter on which completeness depends.
func TestFeedRejectsInvalidParameters(t *testing.T) {
	t.Parallel()
	s := system(t)
	var page struct{ Head *int64 }
	get(t, s.API+"/api/v1/feed?after=0").Require(http.StatusOK).Decode(&page)
	if page.Head == nil {
		t.Fatal("the answer to after=0 has no head")
	}
	future := strconv.FormatInt(*page.Head+1_000_000, 10)
	for query, code := range map[string]string{
		"feed?after=x": "invalid_after", "feed?after=": "invalid_after", "feed?after=-1": "invalid_after",
		"feed?types=signal.filed": "invalid_types", "feed?providers=moon": "invalid_providers", "feed?handle=%20": "invalid_handle",
		"feed?limit=x": "invalid_limit", "feed?cursor=x": "invalid_cursor", "feed?after=" + future: "future_cursor",
		"feed/stream?channels=signals&since=x": "invalid_since", "feed/stream?channels=signals&since=" + future: "future_cursor",
		"feed/stream?channels=signal": "unknown_channel",
	} {
		get(t, s.API+"/api/v1/"+query).RequireError(http.StatusBadRequest, code)
	}
	// An unknown operator has no events, but the numbers of the feed.
	var none struct {
		Items []any
		Head  int64
	}
	get(t, s.API+"/api/v1/feed?after=0&handle=no_such_operator").Require(http.StatusOK).Decode(&none)
	if len(none.Items) != 0 || none.Head < *page.Head {
		t.Errorf("the feed of an unknown operator has %d items and head %d; want none and at least %d", len(none.Items), none.Head, *page.Head)
	}
}
