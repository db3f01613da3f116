package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestLiveReachesItsListeners: what an operator does on the air is heard on every
// channel that it concerns, in the words of the routes.
func TestLiveReachesItsListeners(t *testing.T) {
	t.Parallel()
	s := up(t)
	p := s.person(t)
	market := s.native(t, 5000)
	operator, overlay := "operator:"+p.user, "overlay:"+p.user
	k := s.connect(t, nil)
	k.say(obj{"op": "subscribe", "id": "s1", "channels": []string{operator, overlay, "live", "market:" + market}})
	begins := k.snapshots(operator, overlay)
	for channel, data := range map[string]string{operator: `{"live":false,"showId":null,"signal":null,"approved":false}`, overlay: `{"marketId":null}`} {
		if begins[channel] != data {
			t.Errorf("%s begins with %s", channel, begins[channel])
		}
	}
	p.decided(t, "approved")
	post(t, s.Hub+"/api/m/"+market+"/streams", p.auth(t), payload(obj{"url": "https://video.example/" + p.user + ".m3u8"})).is(http.StatusOK)
	show := post(t, s.Hub+"/api/streamer/heartbeat", p.auth(t)).is(http.StatusOK).str("showId")
	if f := k.event(operator, "operator.live"); f.Seq == 0 || !strings.Contains(string(f.Data), show) || !strings.Contains(string(f.Data), `"handle":"`+p.user+`"`) {
		t.Errorf("live: %s", f.Data)
	}
	post(t, s.Hub+"/api/streamer/signal", p.auth(t), payload(obj{"marketId": market, "name": "Ostrava <b>6 m</b>"})).is(http.StatusOK)
	if f := k.event(overlay, "overlay.updated"); f.Seq != 0 || !strings.Contains(string(f.Data), `"marketId":"`+market+`"`) || !strings.Contains(string(f.Data), `"yesPct":50`) {
		t.Errorf("the signal: %s", f.Data)
	}
	post(t, s.Hub+"/api/live/"+p.user+"/view", payload(obj{"viewerId": "v"})).is(http.StatusOK)
	post(t, s.Hub+"/api/live/"+p.user+"/view", payload(obj{"viewerId": "w"})).is(http.StatusOK)
	k.until("two viewers and this listener", func(f frame) bool {
		return f.Channel == "market:"+market && f.Type == "viewers.updated" && string(f.Data) == `{"viewers":3}`
	})
	call := p.call(t, market, "YES", 5000)
	receipts := get(t, s.Hub+"/api/streamer/receipts?handle="+p.user).is(http.StatusOK)
	if receipts.str("showId") != show || receipts.str("receipts.0.signalId") != call || receipts.str("recap.topMarket.marketId") != market {
		t.Errorf("receipts: %s", receipts.body)
	}
	later := s.connect(t, nil)
	later.say(obj{"op": "subscribe", "id": "s1", "channels": []string{operator, overlay}})
	begins = later.snapshots(operator, overlay)
	if d := begins[operator]; !strings.Contains(d, `"live":true`) || !strings.Contains(d, show) {
		t.Errorf("%s begins with %s", operator, d)
	}
	if d := begins[overlay]; !strings.Contains(d, `"name":"Ostrava <b>6 m</b>"`) {
		t.Errorf("%s begins with %s", overlay, d)
	}
	send(t, http.MethodDelete, s.Hub+"/api/streamer/signal", p.auth(t)).is(http.StatusOK)
	if f := k.event(overlay, "overlay.updated"); string(f.Data) != `{"marketId":null}` {
		t.Errorf("no signal: %s", f.Data)
	}
	post(t, s.Hub+"/api/streamer/heartbeat", p.auth(t), payload(obj{"state": "offline"})).is(http.StatusOK)
	if f := k.event(operator, "operator.offline"); f.Prev == nil || !strings.Contains(string(f.Data), show) || !strings.Contains(string(f.Data), `"durationS"`) {
		t.Errorf("offline: %s", f.Data)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		return !strings.Contains(string(get(t, s.Hub+"/api/streamers/live").is(http.StatusOK).body), `"live":[{"handle":"`+p.user)
	})
}
