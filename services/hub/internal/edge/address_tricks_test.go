package edge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// trick is a request that hopes not to be counted.
type trick struct {
	method, target, body string
	headers              func(i int) []header
	most                 int // of perMinute and some that are taken; 0: perMinute
}

func one(h header) func(int) []header { return func(int) []header { return []header{h} } }

func raw(name string, values ...string) header {
	return func(r *http.Request) { r.Header[name] = values }
}

// tricks are tried by nobody, and by somebody on what does not look at them. Where a
// session is right, pages and reads for everybody may draw on both budgets.
func (b *bench) tricks() map[string]trick {
	const me, public, crowd, file = "/api/network/field-record/me", "/api/m/" + marketID, "/api/m/" + marketID + "/crowd", "/api/predictions"
	known, session := bearer(b.knownKey()), b.bySession()
	uid, _, _ := strings.Cut(b.cookie, ";")
	foreign := with("Origin", "https://evil.example")
	return map[string]trick{
		"nothing":                            {target: public, headers: one(with("X-Nothing", ""))},
		"an Authorization without a word":    {target: me, headers: one(raw("Authorization", ""))},
		"one on a read for everybody":        {target: public, headers: one(raw("Authorization", ""))},
		"two of them":                        {target: me, headers: one(raw("Authorization", "", "Bearer "+b.key))},
		"a good key twice":                   {target: me, headers: one(raw("Authorization", "Bearer "+b.key, "Bearer "+b.key))},
		"another scheme":                     {target: me, headers: one(basic("mara_k", b.key))},
		"another one in front of a good key": {target: me, headers: one(raw("Authorization", "Digest x", "Bearer "+b.key))},
		"the scheme alone":                   {target: me, headers: one(with("Authorization", "Bearer"))},
		"a small scheme":                     {target: me, headers: func(i int) []header { return []header{with("Authorization", fmt.Sprintf("bEaReR dk_%043d", i))} }},
		"the same wrong key":                 {target: me, headers: one(stranger(1))},
		"a new wrong key each time":          {target: me, headers: func(i int) []header { return []header{stranger(i)} }},
		"one in the act":                     {method: "POST", target: file, body: `{}`, headers: func(i int) []header { return []header{stranger(i)} }},
		"an old key":                         {target: me, headers: func(i int) []header { return []header{bearer(fmt.Sprintf("db_live_%043d", i))} }},
		"a wrong login":                      {target: "/api/dev/whoami", headers: one(with("Authorization", "Bearer jwt.mara_k.gis"))},
		"a wrong token":                      {target: mePath, headers: func(i int) []header { return []header{bearer(fmt.Sprintf("dat_%043d", i))} }},
		"a good key where none is taken":     {target: public, headers: one(known)},
		"one at a page":                      {target: "/feed", headers: one(known)},
		"one at a ready page":                {target: "/api/wire", headers: one(known)},
		"one on a path that is none":         {target: "/nothing", headers: one(known)},
		"one with a method that is none":     {method: "PATCH", target: file, headers: one(known)},
		"one with an invented method":        {method: "BREW", target: file, headers: one(known)},
		"one in a preflight":                 {method: "OPTIONS", target: file, headers: one(known)},
		"one on a path that has gone":        {target: "/api/channels/7", headers: one(known)},
		"one for an agent of another origin": {method: "POST", target: agentPath, body: toolCall("my_record", `{}`), headers: func(int) []header { return []header{known, foreign} }},
		"a head":                             {method: "HEAD", target: public, headers: one(stranger(1))},
		"cookies of others":                  {target: public, headers: func(i int) []header { return []header{with("Cookie", fmt.Sprintf("a=%d; uid=x", i))} }},
		"cookies that are none":              {target: public, headers: one(with("Cookie", ";;db_uid; =;"))},
		"half a session":                     {target: crowd, headers: one(with("Cookie", uid))},
		"a session without a word":           {target: crowd, headers: one(with("Cookie", "db_uid=; db_sig="))},
		"a wrong session":                    {target: crowd, headers: one(with("Cookie", uid+"; db_sig=AAAA"))},
		"one at a page that finds nobody":    {target: "/feed", headers: one(with("Cookie", uid+"; db_sig=AAAA"))},
		"one in front of the right one":      {target: crowd, headers: one(raw("Cookie", "db_uid=x; db_sig=y", b.cookie))},
		"small names":                        {target: crowd, headers: one(with("Cookie", strings.ToUpper(uid)+"; DB_SIG=x"))},
		"a session from another origin":      {method: "POST", target: file, body: `{}`, headers: func(int) []header { return []header{with("Cookie", b.cookie), foreign} }},
		"one on a parameter that is broken":  {target: "/api/m/%00/crowd", headers: one(session)},
		"one behind a wrong key":             {target: crowd, headers: func(i int) []header { return []header{session, stranger(i)} }},
		"a login in a cookie that is wrong":  {target: "/dev", headers: one(with("Cookie", "db_dev=jwt.mara_k.gis"))},
		"a session on a read for everybody":  {target: public, headers: one(session), most: 2 * perMinute},
		"a session where nothing is":         {target: "/nothing", headers: one(session), most: 2 * perMinute},
		"a session in a preflight":           {method: "OPTIONS", target: crowd, headers: one(session), most: 2 * perMinute},
		"an admin secret without a word":     {target: public, headers: one(raw("X-Admin-Secret", ""))},
		"one on a ready page":                {target: "/api/wire", headers: one(with("X-Admin-Secret", "x"))},
		"a right one where none is taken":    {target: public, headers: one(byAdmin())},
		"a right one beside a session":       {target: public, headers: func(int) []header { return []header{byAdmin(), session} }},
		"a cron secret on a read":            {target: public + "?secret=" + cronSecret, headers: one(with("X-Nothing", ""))},
		"an app that is none":                {method: "POST", target: tokenPath, body: `{}`, headers: func(i int) []header { return []header{basic(fmt.Sprint("app_", i), "x")} }},
		"a good key where apps speak":        {method: "POST", target: revokePath, body: `{}`, headers: one(known)},
		"an address in a header": {target: public, headers: func(i int) []header {
			return []header{with("X-Forwarded-For", fmt.Sprint("192.0.2.", i%250)), stranger(i)}
		}},
		"a port of its own": {target: public, headers: func(i int) []header {
			return []header{func(r *http.Request) { r.RemoteAddr = fmt.Sprint("192.0.2.1:", i+1) }}
		}},
	}
}

func (b *bench) try(c trick, i int) (taken bool) {
	if c.method == "" {
		c.method = http.MethodGet
	}
	return b.send(c.method, c.target, c.body, c.headers(i)...).Code != http.StatusTooManyRequests
}

// TestNoWayRoundTheAddress: who is nobody has the requests of an address and no more,
// however the credential looks, and each request is counted once.
func TestNoWayRoundTheAddress(t *testing.T) {
	t.Parallel()
	for name := range setup(t).tricks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, limited(perMinute))
			b.mountPages()
			c := b.tricks()[name]
			if c.most == 0 {
				c.most = perMinute
			}
			taken := 0
			for i := range c.most + 60 {
				if b.try(c, i) {
					taken++
				}
			}
			if taken != c.most {
				t.Errorf("%d requests were taken, want %d", taken, c.most)
			}
		})
	}
}

// TestAllTricksTogether: whatever is mixed, an address has twice its limit and no more.
func TestAllTricksTogether(t *testing.T) {
	t.Parallel()
	b := setup(t, limited(perMinute))
	b.mountPages()
	tricks := b.tricks()
	taken := 0
	for i := range 100 {
		for _, c := range tricks {
			if b.try(c, i) {
				taken++
			}
		}
	}
	if taken != 2*perMinute {
		t.Errorf("%d requests of nobody were taken in a minute, want %d", taken, 2*perMinute)
	}
}
