package rows

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// d5 asks for clips a hundred at a time, of one stream and over every hub, until the day
// is full. Time passes by moving what was cut into the past.
var d5 = frame.Row{
	ID: "D5", Title: "clips are cut once in 120 seconds and ten times a day",
	Fault: frame.Fault{What: "wishes for clips are counted without waiting for each other"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		p, err := signUp(ctx, env, "d5-star", 1)
		if err != nil {
			return nil, err
		}
		fans := make([]person, 10)
		for i := range fans {
			if fans[i], err = signUp(ctx, env, fmt.Sprintf("d5-fan-%d", i), 0); err != nil {
				return nil, err
			}
		}
		market, err := markets(ctx, env, "D5", 1)
		if err != nil {
			return nil, err
		}
		if err := onCamera(ctx, env, p); err != nil {
			return nil, err
		}
		const day, abreast = 10, 100
		sizes, asked := []int64{}, 0
		for round := range day + 1 {
			var cut, cooling, full atomic.Int64
			n := abreast
			if round > 0 && round < day {
				n = 10
			}
			frame.Each(n, abreast, func(i int) {
				a := patiently(ctx, env, client.Request{
					URL: env.Hub(i) + "/api/live/" + p.Handle + "/clip", As: fans[i%len(fans)].session, Body: map[string]any{"marketId": market[0]},
				})
				switch {
				case a.Status == http.StatusCreated:
					cut.Add(1)
				case a.Code() == "clip_cooldown":
					cooling.Add(1)
				case a.Code() == "clip_daily_limit":
					full.Add(1)
				default:
					seen.Wrong("a wish was answered %s", a)
				}
			})
			asked += n
			sizes = append(sizes, cut.Load())
			want := int64(1)
			if round == day {
				want = 0
				seen.Check(full.Load() == int64(n), "of %d wishes on a full day %d were told so", n, full.Load())
			}
			seen.Check(cut.Load() == want, "round %d: %d clips", round+1, cut.Load())
			// Not behind midnight: the day would be another one.
			if _, err := env.DB.Exec(ctx, `UPDATE hub.clips SET created_at = greatest(created_at - interval '121 s', date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
				WHERE handle = $1`, p.Handle); err != nil {
				return nil, err
			}
		}
		var total int64
		for _, n := range sizes {
			total += n
		}
		seen.Promise("clips 1 of a hundred at once, 10 a day", fmt.Sprintf("%d, %d", sizes[0], total))
		seen.Volume("%d wishes of %d people over %d hubs", asked, len(fans), len(env.Hubs))
		return seen, nil
	},
}

// onePicture begins a packet of MPEG-TS with a picture at time 0.
const onePicture = "G\x41\x00\x10\x00\x00\x01\xe0\x00\x00\x80\x80\x05\x21\x00\x01\x00\x01"

// onCamera makes somebody an approved streamer whose video has come in.
func onCamera(ctx context.Context, env *frame.Env, p person) error {
	if err := approve(ctx, env, p.Handle); err != nil {
		return err
	}
	var out struct {
		Stream struct {
			Ingest struct {
				PushURL string `json:"pushUrl"`
			} `json:"ingest"`
		} `json:"stream"`
	}
	ask := client.Request{URL: env.Hub(0) + "/api/streamer/stream", As: p.login, Body: map[string]any{}}
	if err := env.Client.Do(ctx, ask).Into(http.StatusCreated, &out); err != nil {
		return fmt.Errorf("a stream: %w", err)
	}
	base := out.Stream.Ingest.PushURL
	base = base[:len(base)-len("index.m3u8")]
	for _, f := range [][2]string{
		{"a.ts", onePicture + fmt.Sprintf("%170s", time.Now().String())}, {"index.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n"},
	} {
		if a := env.Client.Do(ctx, client.Request{Method: http.MethodPut, URL: base + f[0], Body: []byte(f[1])}); a.Status != http.StatusNoContent {
			return fmt.Errorf("push %s: %s", f[0], a)
		}
	}
	return nil
}
