package rows

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a3 tries to rewrite events, as the writing role and as the owner of the table,
// and to choose what the system alone decides: an event's id, time and actor.
var a3 = frame.Row{
	ID: "A3", Title: "events are append-only, in the database",
	Fault: frame.Fault{
		What: "events without their trigger, and the writing role may delete",
		SQL:  "ALTER TABLE api.signal_events DISABLE TRIGGER no_change; GRANT DELETE ON api.signal_events TO api_rw",
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		p, err := signUp(ctx, env, "a3-caller", 8)
		if err != nil {
			return nil, err
		}
		ids, err := markets(ctx, env, "A3", 1)
		if err != nil {
			return nil, err
		}
		a := env.Client.File(ctx, env.Hub(0), p.keys[0].Key, client.Call{Market: ids[0], Yes: true, Price: 5000})
		if err := a.Into(200, nil); err != nil {
			return nil, err
		}
		bodies := env.Of(20, 150, 190)
		if err := chooseOwn(ctx, env, seen, p, a.Text("id"), bodies); err != nil {
			return nil, err
		}
		before, err := digest(ctx, env, "signal_events")
		if err != nil {
			return nil, err
		}
		list := edits()
		n, err := refused(ctx, env, seen, list)
		if err != nil {
			return nil, err
		}
		after, err := digest(ctx, env, "signal_events")
		if err != nil {
			return nil, err
		}
		seen.Check(before == after, "rows of signal_events have changed")
		seen.Volume("%d attempts, %d event bodies", len(list), bodies)
		seen.OutOf(len(list), n)
		return seen, nil
	},
}

func edits() []attempt {
	const change, remove = "UPDATE api.signal_events SET payload = '{}'", "DELETE FROM api.signal_events"
	const upsert = "INSERT INTO api.signal_events SELECT * FROM api.signal_events ON CONFLICT (id) DO UPDATE SET actor = 'else'"
	return []attempt{
		{"update", "api_rw", change, nil},
		{"delete", "api_rw", remove, nil},
		{"truncate", "api_rw", "TRUNCATE api.signal_events", nil},
		{"update as a replica", "api_rw", "SET session_replication_role = replica; " + change, nil},
		{"disable the triggers", "api_rw", "ALTER TABLE api.signal_events DISABLE TRIGGER ALL", nil},
		{"drop the table", "api_rw", "DROP TABLE api.signal_events", nil},
		{"run a program", "api_rw", "COPY api.signal_events TO PROGRAM 'cat'", nil},
		{"update", "api_migrator", change, nil},
		{"delete", "api_migrator", remove, nil},
		{"truncate", "api_migrator", "TRUNCATE api.signal_events", nil},
		{"update by way of insert", "api_migrator", upsert, nil},
	}
}

// chooseOwn posts events that name what is not theirs to choose.
func chooseOwn(ctx context.Context, env *frame.Env, seen *frame.Seen, p person, signal string, n int) error {
	r := env.Rand("A3")
	began := time.Now()
	const ours = "01234567-89ab-7def-8123-456789abcdef"
	for i := range n {
		a := env.Client.Do(ctx, client.Request{
			URL: env.Hub(i/len(p.keys)) + "/api/signals/" + signal + "/events", As: p.keys[i%len(p.keys)].Key, Body: eventBody(r, ours),
		})
		if a.Status != 201 && a.Status != 400 {
			return fmt.Errorf("an event was answered %s", a)
		}
	}
	strange, err := env.Count(ctx, `SELECT count(*) FROM api.signal_events WHERE signal_id = $1::uuid AND
		(id = $2::uuid OR actor <> 'owner' OR created_at < $3 OR created_at > now() + interval '5 seconds' OR payload ?| '{id,actor,createdAt,type}')`,
		signal, ours, began.Add(-5*time.Second))
	if err != nil {
		return err
	}
	stored, err := env.Count(ctx, "SELECT count(*) FROM api.signal_events WHERE signal_id = $1::uuid", signal)
	if err != nil {
		return err
	}
	seen.Check(strange == 0, "%d events carry what their body chose", strange)
	seen.Check(stored > n/2, "only %d of %d bodies were taken, too few to tell", stored, n)
	seen.Figure("events", stored)
	return nil
}

// eventBody is an event that also says who made it, and when.
func eventBody(r *rand.Rand, id string) []byte {
	own := []string{
		`"id":"` + id + `"`, `"createdAt":"2001-01-01T00:00:00.000Z"`, `"created_at":"2001-01-01"`, `"actor":"hub"`, `"actor":null`, `"signalId":"` + id + `"`,
	}
	bodies := []string{
		`"type":"take","payload":{"url":"https://video.example/1","text":"look"%s}`, `"type":"confidence","payload":{"confidence":70%s}`,
		`"type":"note","payload":{"text":"later"%s}`, `"type":"share","payload":{"channel":"farcaster"%s}`,
	}
	inside, outside := own[r.IntN(len(own))], own[r.IntN(len(own))]
	body := "{" + fmt.Sprintf(bodies[r.IntN(len(bodies))], ","+inside) + "," + outside + "}"
	if r.IntN(4) == 0 {
		body = strings.Replace(body, `"createdAt"`, `"CreatedAt"`, 1)
	}
	return []byte(body)
}
