package rows

import (
	"testing"

	"github.com/signalcast/signalcast/test/system/feedclient"
)

func TestReckon(t *testing.T) {
	t.Parallel()
	tell := func(seqs ...int64) (out []feedclient.Told) {
		for _, seq := range seqs {
			out = append(out, feedclient.Told{Seq: seq, Sum: uint64(10 * seq)})
		}
		return out
	}
	other := tell(1, 2, 3)
	other[1].Sum++
	for name, c := range map[string]struct {
		got  []feedclient.Told
		want reckoning
	}{
		"all":           {tell(1, 2, 3), reckoning{want: 3}},
		"one missing":   {tell(1, 3), reckoning{want: 3, missing: 1}},
		"none":          {nil, reckoning{want: 3, missing: 3}},
		"one twice":     {tell(1, 2, 2, 3), reckoning{want: 3, doubled: 1}},
		"all twice":     {tell(1, 2, 3, 1, 2, 3), reckoning{want: 3, doubled: 3}},
		"another order": {tell(1, 3, 2), reckoning{want: 3, disordered: 1}},
		"a stranger":    {tell(1, 2, 3, 4), reckoning{want: 3, wrong: 1}},
		"other words":   {other, reckoning{want: 3, wrong: 1}},
	} {
		if got := reckon(tell(1, 2, 3), c.got); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestOnChannels(t *testing.T) {
	t.Parallel()
	filed := happened{kind: "signal.created", market: "1", lane: "MUSIC", handle: "mara"}
	added := happened{kind: "signal.event", market: "1", lane: "MUSIC", handle: "mara"}
	decided := happened{kind: "market.resolved", market: "1", lane: "MUSIC"}
	for channel, want := range map[string][3]bool{
		"signals": {true, true, false}, "signals:lane:MUSIC": {true, true, false}, "signals:lane:TECH": {},
		"market:1": {true, true, true}, "market:2": {}, "operator:mara": {true, false, false}, "operator:tide": {},
		"resolutions": {false, false, true}, feedclient.Everything: {true, true, true}, "live": {},
	} {
		if got := [3]bool{filed.on(channel), added.on(channel), decided.on(channel)}; got != want {
			t.Errorf("%s: %v, want %v", channel, got, want)
		}
	}
	if list := (fullList{{Told: feedclient.Told{Seq: 4}}, {Told: feedclient.Told{Seq: 6}}, {Told: feedclient.Told{Seq: 6}}}); list.broken(3) != 2 || list.broken(2) != 3 {
		t.Error("numbers that do not follow each other are not counted")
	}
}
