package access

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestUnknownPathNamesItsHost checks that a path of another host of the installation is 404 with the address of that host.
func TestUnknownPathNamesItsHost(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	for address, want := range map[string]string{
		s.Hub + "/api/v1/webhooks": s.API, s.Hub + "/program/now": s.Clock, s.Hub + "/nothing": "",
		s.API + "/api/predictions": s.Hub, s.API + "/program/now": s.Clock, s.API + "/nothing": "",
		s.Clock + "/api/predictions": s.Hub, s.Clock + "/api/v1/feed": s.API, s.Clock + "/nothing": "",
	} {
		a := stack.Get(t, address)
		a.RequireError(http.StatusNotFound, "not_found")
		if got := a.Member("servedBy"); got != want || a.Member("message") == "" {
			t.Errorf("%s: servedBy %q, want %q\n%s", address, got, want, a.Body)
		}
	}
}

// maxRevocation is the longest time in which public reads may accept a credential after its revocation.
const maxRevocation = 10 * time.Second

// TestRevocationReachesPublicReads checks that public reads of all hosts accept a key and the token of an app as soon as they are
// issued, with the same body as without a credential, and reject both within maxRevocation after their revocation.
func TestRevocationReachesPublicReads(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	o := s.NewOwner(t)
	key, keyID := o.Mint(t, stack.JSON{"label": "reader"})
	tokens := o.App.Grant(t, o.Session(t), "profile:read")
	reads := map[string]string{
		"hub": s.Hub + "/api/m/" + o.Market, "api": s.API + "/api/v1/oracle/markets/" + o.Market, "clock": s.Clock + "/program/now",
	}
	for name, address := range reads {
		for kind, bearer := range map[string]string{"key": key, "token": tokens.Access} {
			a := stack.Get(t, address, stack.Bearer(bearer)).Require(http.StatusOK)
			if rule := a.Header.Get("Cache-Control"); rule != "private" && rule != "no-store" {
				t.Errorf("%s with a %s: Cache-Control %q, want private", name, kind, rule)
			}
		}
	}
	o.Do(t, http.MethodDelete, s.Hub+"/api/dev/keys?id="+keyID, stack.Bearer(o.Login)).Require(http.StatusOK)
	o.Do(t, http.MethodDelete, s.Hub+"/api/user/grants/"+tokens.Grant, o.Session(t)).Require(http.StatusOK)
	revoked := time.Now()
	for name, address := range reads {
		for kind, bearer := range map[string]string{"key": key, "token": tokens.Access} {
			for {
				sent := time.Now()
				a := stack.Get(t, address, stack.Bearer(bearer))
				if a.Status == http.StatusUnauthorized {
					if got := a.Member("reason"); got != "revoked" {
						t.Errorf("%s with a revoked %s: reason %q\n%s", name, kind, got, a.Body)
					}
					break
				}
				if sent.Sub(revoked) > maxRevocation {
					t.Errorf("%s still accepts a %s %v after its revocation", name, kind, sent.Sub(revoked))
					break
				}
				time.Sleep(500 * time.Millisecond)
			}
		}
	}
}
