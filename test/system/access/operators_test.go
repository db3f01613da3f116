package access

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestKeyTiers checks that a person sees the tier that an administrator gave the operator on each active key and on a new key.
func TestKeyTiers(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	o := s.NewOperator(t)
	keys := func() stack.Answer {
		return o.Do(t, http.MethodGet, s.Hub+"/api/dev/keys", stack.Bearer(o.Login)).Require(http.StatusOK)
	}
	keys().Expect(stack.JSON{"keys.0.tier": "free"})
	stack.Post(t, s.Hub+"/api/admin/operators", s.Admin(), stack.Body(stack.JSON{"handle": o.Handle, "keyTier": "builder"})).
		Require(http.StatusOK).Expect(stack.JSON{"operator.keyTier": "builder", "operator.tier": "independent", "operator.seeded": false})
	keys().Expect(stack.JSON{"keys.0.tier": "builder"})
	o.Do(t, http.MethodPost, s.Hub+"/api/dev/keys", stack.Bearer(o.Login), stack.Body(stack.JSON{"label": "another"})).
		Require(http.StatusCreated).Expect(stack.JSON{"tier": "builder"})
	o.Mint(t, stack.JSON{"label": "third"})
	keys().Expect(stack.JSON{"keys.0.tier": "builder", "keys.1.tier": "builder", "keys.2.tier": "builder"})
}

// TestSeededProfiles checks that the calls of a seeded profile are automated: the crowd of a market excludes them, and the profile
// is not a person. A created profile has a public record, and a person who signs in with its handle gets another handle.
func TestSeededProfiles(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	person, example := s.NewOperator(t), s.NewOperator(t)
	market := s.NewNativeMarket(t, 5000, nil)
	person.NewCall(t, market, "YES", 5000, nil)
	example.NewCall(t, market, "NO", 5000, nil)
	crowd := func(yes, no int) {
		t.Helper()
		stack.Eventually(t, 30*time.Second, "the crowd of the market", func() bool {
			a := stack.Get(t, s.Hub+"/api/m/"+market+"/crowd").Require(http.StatusOK)
			return a.Int("yesCount") == yes && a.Int("noCount") == no
		})
	}
	crowd(1, 1)
	classify := func(body stack.JSON) stack.Answer {
		return stack.Post(t, s.Hub+"/api/admin/operators", s.Admin(), stack.Body(body))
	}
	classify(stack.JSON{"handle": example.Handle, "seeded": true}).Require(http.StatusOK).
		Expect(stack.JSON{"operator.seeded": true, "operator.tier": "automated", "operator.operatorType": "system_bot"})
	crowd(1, 0)

	created := example.Handle + "_x"
	for range 2 { // an administrator who got no answer repeats the request
		classify(stack.JSON{"handle": created, "create": true, "displayName": "Example desk"}).Require(http.StatusOK).
			Expect(stack.JSON{"operator.handle": created, "operator.tier": "automated"})
	}
	classify(stack.JSON{"handle": person.Handle, "create": true}).RequireError(http.StatusConflict, "handle_taken")
	stack.Get(t, s.Hub+"/api/operator/"+created).Require(http.StatusOK).
		Expect(stack.JSON{"displayName": "Example desk", "tier": "automated", "operatorType": "system_bot", "isAi": false})
	token := stack.Post(t, s.IDP+"/mint", stack.Body(stack.JSON{"user": created})).Require(http.StatusOK).Text("token")
	signedIn := stack.Post(t, s.Hub+"/api/auth/privy", stack.Bearer(token)).Require(http.StatusOK).Text("user.handle")
	if signedIn == created {
		t.Errorf("a person signed in as the created profile %s", created)
	}
}

// TestAgentsAreMarked checks that each answer about an operator who declares itself automated has isAi true, and that the list of
// the network, which has people only, excludes it.
func TestAgentsAreMarked(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	o := s.NewOperator(t)
	for range 3 { // wins at long odds, because the lists below have the first 100 operators only
		market := s.NewNativeMarket(t, 500, nil)
		o.NewCall(t, market, "YES", 500, nil)
		s.Finalize(t, market, "YES")
	}
	browser := o.Session(t)
	requireAI := func(want bool) {
		t.Helper()
		for _, url := range []string{
			s.Hub + "/api/operator/" + o.Handle, s.Hub + "/api/operator/" + o.Handle + "/skill",
			s.Hub + stack.ProtocolPath + "/passports/" + o.ID,
		} {
			stack.Eventually(t, 100*time.Second, url+" to have the right isAi", func() bool {
				return stack.Get(t, url).Require(http.StatusOK).Value("isAi") == want
			})
		}
		for url, as := range map[string]stack.Set{
			s.Hub + stack.ProtocolPath + "/me": stack.Bearer(o.Key), s.Hub + "/api/dev/whoami": stack.Bearer(o.Login),
			s.API + "/api/v1/users/me": stack.Bearer(o.Key),
		} {
			o.Retry(t, http.MethodGet, url, as).Require(http.StatusOK).Expect(stack.JSON{"isAi": want})
		}
		for _, url := range []string{
			s.Hub + "/api/operator/leaderboard?operators=all&limit=100", s.API + "/api/v1/signals/leaderboard?operators=all&limit=200",
		} {
			stack.Eventually(t, 60*time.Second, o.Handle+" in "+url, func() bool {
				for _, v := range stack.Get(t, url).Require(http.StatusOK).List("leaderboard") {
					row, _ := v.(map[string]any)
					if row["handle"] == o.Handle || row["callsign"] == o.Handle {
						return row["isAi"] == want
					}
				}
				return false
			})
		}
	}
	requireAI(false)
	o.Send(t, "/api/streamer/profile", http.StatusOK, browser, stack.JSON{"automated": true})
	requireAI(true)
	stack.Eventually(t, 60*time.Second, "operators of the network without the agent", func() bool {
		return !stack.Get(t, s.Hub+"/api/network/operators?limit=40").Require(http.StatusOK).Contains(`"` + o.Handle + `"`)
	})
}
