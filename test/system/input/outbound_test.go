package input

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/test/system/openapi"
	"github.com/signalcast/signalcast/test/system/stack"
)

// urlSender sends requests that contain the URL of a tripwire.
type urlSender struct {
	s        *stack.Stack
	tripwire *stack.Tripwire
	author   *stack.Author
	session  stack.Set
	keys     []string
	crowd    *stack.Crowd

	accepted atomic.Int64 // number of accepted writes
}

// TestCallersURLsAreNotFetched checks that the services do not connect to a URL that a caller sends in a body, a query, a path,
// a header or a token.
func TestCallersURLsAreNotFetched(t *testing.T) {
	t.Parallel()
	s, doc := inputStack(t), openapi.ForTest(t)
	u := &urlSender{s: s, tripwire: stack.NewTripwire(t), author: s.NewAuthor(t), crowd: stack.NewCrowd(50)}
	u.session, u.keys = u.author.Session(t), []string{u.author.Key}
	for i := range stack.Size(t, 1, 3, 3) {
		key, _ := u.author.Mint(t, stack.JSON{"label": fmt.Sprintf("key %d", i)})
		u.keys = append(u.keys, key)
	}
	writes := 0
	for _, o := range doc.Operations {
		switch {
		case o.Gone(), o.Takes("cronSecret"):
		case o.Method == http.MethodGet && !testing.Short() && !o.Streams():
			u.read(t, o)
		case o.Body() != nil:
			for _, at := range append(openapi.TextPaths(o.Body()), nil) {
				for _, scheme := range []string{"https", "http"} {
					u.write(t, o, at, strings.Replace(u.tripwire.URL(), "http", scheme, 1), writes)
					writes++
				}
			}
		}
	}
	u.tokens(t)
	// The services may fetch stored addresses later.
	stack.Wait(t, time.Duration(stack.Size(t, 500, 1500, 10_000))*time.Millisecond)
	if n := u.tripwire.Connections.Load(); n != 0 {
		t.Errorf("%d connections were made to an address that a caller sent; want 0", n)
	}
	if n := u.accepted.Load(); n < 50 {
		t.Errorf("%d of %d writes with the address were accepted; want at least 50", n, writes)
	}
}

func (u *urlSender) credential(o *openapi.Operation, n int) stack.Set {
	switch {
	case o.Takes("adminSecret"):
		return u.s.Admin()
	case o.Takes("operatorKey"):
		return stack.Bearer(u.keys[n%len(u.keys)])
	case o.Takes("identityToken"):
		return stack.Bearer(u.author.Login)
	case o.Takes("sessionId"):
		return u.session
	}
	return func(*http.Request) {}
}

// values returns path parameters that refer to existing objects.
func (u *urlSender) values(o *openapi.Operation, market string) map[string]string {
	id := u.author.CallID
	switch {
	case strings.Contains(o.Path, "/m/{id}"), strings.Contains(o.Path, "/markets/{id}"):
		id = market
	case strings.HasPrefix(o.Path, "/api/v1/webhooks"):
		id = u.author.Webhook
	}
	return map[string]string{"marketId": market, "market": market, "handle": u.author.Handle, "id": id}
}

// urlMembers are the members of request bodies that contain a URL or a free text.
var urlMembers = []string{
	"proofUrl", "resolutionSource", "url", "streamUrl", "imageUrl", "textTake", "reason", "description", "text",
}

// write sends a valid body in which the member at the given path is the URL of the tripwire. If the path is empty, all members
// of urlMembers are this URL.
func (u *urlSender) write(t *testing.T, o *openapi.Operation, at openapi.MemberPath, address string, n int) {
	market := u.s.NewNativeMarket(t, 5000, nil)
	body, _ := sample("", o.Body(), market, u.author.Handle, n).(map[string]any)
	webhook := strings.HasPrefix(o.Path, "/api/v1/webhooks")
	if o.Method == http.MethodPatch && webhook {
		delete(body, "url") // the route accepts only its own URL here
	}
	if at != nil {
		setAt(body, at, address)
	}
	for name := range body {
		if at == nil && slices.Contains(urlMembers, name) {
			body[name] = address
		}
	}
	sets := []stack.Set{u.credential(o, n), stack.Body(body), stack.Header("Idempotency-Key", fmt.Sprintf("url-%d", n))}
	if o.Form() {
		form := url.Values{}
		for name, value := range body {
			form.Set(name, fmt.Sprint(value))
		}
		sets = []stack.Set{stack.Form(form), stack.Header("Origin", u.s.Hub)}
	}
	a := u.crowd.Retry(t, o.Method, u.s.Base(o.Host, n)+o.Fill(u.values(o, market)), sets...)
	taken := webhook && body["url"] == address && a.Status != http.StatusBadRequest
	switch {
	case a.Status >= 500, a.Status == http.StatusTooManyRequests, taken:
		t.Errorf("%s with %s in member %v was answered %d: %.200s", o.Name(), address, at, a.Status, a.Body)
	case a.Status < 300:
		u.accepted.Add(1)
	}
}

// read sends the URL of the tripwire in each text parameter of a read operation.
func (u *urlSender) read(t *testing.T, o *openapi.Operation) {
	for n, p := range o.Parameters() {
		if !p.Text {
			continue
		}
		values, sets := u.values(o, u.author.Market), []stack.Set{}
		if !o.Public() {
			sets = append(sets, u.credential(o, n))
		}
		path := o.Fill(values)
		switch p.In {
		case "path":
			values[p.Name] = url.PathEscape(u.tripwire.URL())
			path = o.Fill(values)
		case "query":
			path += "?" + url.Values{p.Name: {u.tripwire.URL()}}.Encode()
		default:
			sets = append(sets, stack.Header(p.Name, u.tripwire.URL()))
		}
		a := u.crowd.Retry(t, o.Method, u.s.Base(o.Host, n)+path, sets...)
		if a.Status >= 500 && (a.Status != http.StatusNotImplemented || !o.Knows(a.Status)) {
			t.Errorf("%s with an address in parameter %s was answered %d: %.200s", o.Name(), p.Name, a.Status, a.Body)
		}
	}
}

// tokens sends forged tokens that contain the URL of the tripwire as the location of their keys or as their issuer.
func (u *urlSender) tokens(t *testing.T) {
	here := u.tripwire.URL()
	claims := stack.JSON{
		"iss": here, "sub": "did:x", "aud": "signalcast-dev", "jwks_uri": here,
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
	}
	for _, header := range []stack.JSON{
		{"alg": "ES256", "kid": "x", "jku": here},
		{"alg": "ES256", "kid": here, "x5u": here},
		{"alg": "RS256", "kid": "x", "jku": here, "iss": here},
	} {
		encoded := base64.RawURLEncoding.EncodeToString
		token := encoded(encode(t, header)) + "." + encoded(encode(t, claims)) + "." + strings.Repeat("A", 86)
		for _, url := range []string{u.s.Hub + "/api/auth/privy", u.s.HubAt(1) + "/api/dev/keys", u.s.API + "/api/v1/agent/keys"} {
			body := stack.Body(stack.JSON{"label": "x"})
			u.crowd.Retry(t, http.MethodPost, url, stack.Bearer(token), body).Require(http.StatusUnauthorized)
		}
	}
}

// sample returns a valid value for a schema, with every member. It uses fixed values for members that the schema does not
// describe completely. name is the name of the member.
func sample(name string, s *openapi3.Schema, market, handle string, n int) any {
	switch name {
	case "marketId":
		return market
	case "handle":
		return handle
	case "label":
		return fmt.Sprintf("key %d", n)
	case "payload":
		return map[string]any{"text": "words"}
	case "type":
		if len(s.Enum) == 0 {
			return "note"
		}
	case "price", "priceAtPrediction", "initialYesBps", "crowdYesAtSignal", "crowdLeanBps":
		return 5000
	case "source":
		return "web"
	case "channels":
		return []any{stack.QuietChannel}
	case "types":
		return []any{"market.resolved"}
	}
	for _, list := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		if len(list) > 0 && len(s.Enum) == 0 {
			return sample(name, list[0].Value, market, handle, n)
		}
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Includes("object"):
		out := map[string]any{}
		for member, ref := range s.Properties {
			out[member] = sample(member, ref.Value, market, handle, n)
		}
		return out
	case s.Type.Includes("array") && s.Items == nil:
		return []any{}
	case s.Type.Includes("array"):
		return []any{sample("", s.Items.Value, market, handle, n)}
	case s.Type.Includes("boolean"):
		return true
	case s.Type.Includes("integer") || s.Type.Includes("number"):
		if s.Min != nil {
			return *s.Min
		}
		return 50
	case s.Format == "date-time":
		return time.Now().AddDate(0, 1, n%27).UTC().Format(time.RFC3339)
	case s.Format == "uri", strings.HasPrefix(s.Pattern, "^https"):
		return "https://example.com/"
	}
	return fmt.Sprintf("words %d", n)
}

// setAt sets the member at the path of a body to a text. It creates missing objects on the path.
func setAt(body map[string]any, at openapi.MemberPath, text string) {
	if len(at) == 1 {
		body[at[0]] = text
		return
	}
	if at[1] != "0" {
		inner, ok := body[at[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			body[at[0]] = inner
		}
		setAt(inner, at[1:], text)
		return
	}
	list, _ := body[at[0]].([]any)
	if len(list) == 0 {
		list = []any{map[string]any{}}
	}
	body[at[0]] = list
	if len(at) == 2 {
		list[0] = text
	} else if inner, ok := list[0].(map[string]any); ok {
		setAt(inner, at[2:], text)
	}
}
