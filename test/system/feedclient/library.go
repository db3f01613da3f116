package feedclient

import (
	"context"
	"maps"
	"slices"

	"github.com/signalcast/signalcast/sdk/go/feed"
)

// library is one life with our own client library.
func (r *Reader) library(ctx context.Context) {
	web, over := r.client()
	defer over()
	cut := make(chan struct{}, 1)
	c, err := feed.Open(ctx, feed.Options{
		URL: r.URL + "/ws", Channels: slices.Sorted(maps.Keys(r.Channels)), Since: r.Places(), HTTPClient: web,
		OnState: func(s feed.State) {
			switch s.Phase {
			case feed.Live:
				r.lived(live, "")
			case feed.Hole:
				r.lived(hole, "")
			case feed.Reconnecting:
				select {
				case cut <- struct{}{}:
				default:
				}
			}
		},
	})
	if err != nil {
		r.refused(err.Error())
		return
	}
	taking, stop := context.WithCancel(ctx)
	defer stop()
	if r.Kind == Hopping {
		go func() {
			select {
			case <-cut:
				stop()
			case <-taking.Done():
			}
		}()
	}
	for {
		m, err := c.Next(taking)
		if err != nil {
			break
		}
		r.hear(m)
	}
	c.Close()
	if ctx.Err() == nil { // not killed: what was read is still there
		for {
			m, err := c.Next(ctx)
			if err != nil {
				break
			}
			r.hear(m)
		}
		r.agree(c.Last())
	}
	for range c.Stats().Repeats {
		r.lived(again, "")
	}
}

// hear writes down a message of the library.
func (r *Reader) hear(m feed.Message) {
	switch m := m.(type) {
	case *feed.Event:
		if m.Numbered() {
			r.took(m.Channel, Told{m.Seq, Sum(m.Type, m.Data)})
		}
	case *feed.Gap:
		r.lived(gap, "")
	case *feed.ServerError:
		r.refused(m.Error())
	}
}

// agree wants the library to know where it is.
func (r *Reader) agree(last map[string]int64) {
	if !maps.Equal(last, r.Places()) {
		r.refused("the library is not where its reader is")
	}
}

func (r *Reader) refused(what string) { r.lived(refused, what) }
