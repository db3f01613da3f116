package feedclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// pollEvery keeps a reader well within the requests that an address has.
const pollEvery = 150 * time.Millisecond

// poll is one life of a reader that asks again and again; it ends at the first answer
// that is none.
func (r *Reader) poll(ctx context.Context) {
	web, over := r.client()
	defer over()
	for began := false; ctx.Err() == nil; pause(ctx, pollEvery) {
		page, err := r.page(ctx, web, r.Places()[Everything])
		if err != nil {
			return
		}
		if !began {
			began = true
			r.lived(live, "")
		}
		if page.Gap != nil {
			r.lived(gap, "")
		}
		for _, e := range page.Items {
			r.took(Everything, Told{e.Seq, Sum(e.Type, e.Data)})
		}
	}
}

type page struct {
	Items []struct {
		Seq  int64
		Type string
		Data json.RawMessage
	}
	Gap *struct{ From int64 }
}

func (r *Reader) page(ctx context.Context, web *http.Client, after int64) (p page, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/feed?limit=200&after=%d", r.URL, after), nil)
	if err != nil {
		return p, err
	}
	res, err := web.Do(req)
	if err != nil {
		return p, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Degraded") != "" {
		return p, fmt.Errorf("answered %d", res.StatusCode)
	}
	return p, json.NewDecoder(res.Body).Decode(&p)
}
