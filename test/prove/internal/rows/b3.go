package rows

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// b3 asks again for every write whose answer was lost: in a crash of its own, and
// in those of B1 and B2 when they ran before. A true answer names the call that
// stands, whether the first try had put it there or not.
var b3 = frame.Row{
	ID: "B3", Title: "an in-doubt write gets a true answer on retry", Limit: 2 * time.Minute,
	Fault: frame.Fault{What: "a refused call does not say which call stands"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		c, err := newCrash(ctx, env, seen, "b3")
		if err != nil {
			return nil, err
		}
		victims := []string{"postgres", "hub", "api", "hub-2"}
		err = c.run(ctx, env.Of(2, 4, 20), func(ctx context.Context, i int) error {
			return env.Stack.Crash(ctx, victims[i%len(victims)])
		})
		if err != nil {
			return nil, err
		}
		list := append(env.Doubt.Take(), c.doubt...)
		n, committed, err := askAgain(ctx, env, seen, list)
		if err != nil {
			return nil, err
		}
		seen.Figure("hadCommitted", committed)
		seen.Check(len(list) > 0, "no write was in doubt")
		seen.Volume("%d writes in doubt, %d of them committed", len(list), committed)
		seen.OutOf(len(list), n)
		return seen, nil
	},
}

// askAgain sends each write once more and counts the true answers.
func askAgain(ctx context.Context, env *frame.Env, seen *frame.Seen, list []frame.Write) (right, committed int, err error) {
	asked := map[string]bool{}
	var ids []string
	for _, w := range list {
		if !asked[w.Market] {
			asked[w.Market] = true
			ids = append(ids, w.Market)
		}
	}
	before, err := filedOn(ctx, env, ids)
	if err != nil {
		return 0, 0, err
	}
	answers := make([]client.Answer, len(list))
	frame.Each(len(list), 8, func(i int) {
		w := list[i]
		answers[i] = env.Client.File(ctx, env.Hub(i), client.Key(w.Key), client.Call{Market: w.Market, Yes: w.Yes, Price: w.Price, Key: w.Idem})
	})
	after, err := filedOn(ctx, env, ids)
	if err != nil {
		return 0, 0, err
	}
	for i, w := range list {
		was, there := before[w.Market+w.User]
		is, a := after[w.Market+w.User], answers[i]
		if there {
			committed++
		}
		var ok bool
		switch {
		case there && w.Idem != "": // the same key and body: the first answer
			ok = a.Status == 200 && a.Text("id") == was.id
		case there:
			ok = a.Status == 409 && a.Code() == "already_predicted" && a.Text("id") == was.id
		default:
			ok = a.Status == 200 && a.Text("id") == is.id
		}
		ok = ok && is.holds(w) && (!there || is == was)
		if ok {
			right++
		}
		seen.Check(ok, "a write that was there: %v, with a key: %v, was answered %s", there, w.Idem != "", a)
	}
	return right, committed, nil
}
