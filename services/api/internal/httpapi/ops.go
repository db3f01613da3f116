package httpapi

import (
	"context"
	"strconv"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/broker"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

const (
	maxID      = 64  // characters of a client frame's id
	maxChannel = 160 // of a channel's name
	maxToken   = 128
)

// handle does what a client frame asks; false ends the socket with the code.
func (k *socket) handle(ctx context.Context, data []byte) (broker.Code, bool) {
	o, err := httpx.DecodeBytes(data)
	if err != nil {
		k.refuse("", "", errFrame.Say("%s", apperr.Of(err).Message))
		return broker.Code{}, true
	}
	var id string
	if given := o.OptString("id", maxID); given != nil {
		id = *given
	}
	op := o.OptEnum("op", "auth", "subscribe", "unsubscribe", "ping")
	if err := o.Err(); err != nil || op == "" {
		k.refuse(id, "", errFrame)
		return broker.Code{}, true
	}
	switch op {
	case "auth":
		return k.authenticate(ctx, id, o)
	case "ping":
		k.say(pongJSON{Op: "pong", ID: id})
		return broker.Code{}, true
	}
	channels := o.Strings("channels", 2*k.all.Limits.Subscriptions, maxChannel)
	if len(channels) == 0 {
		o.Missing("channels")
	}
	since, _ := o.OptObject("since")
	if err := o.Err(); err != nil {
		k.refuse(id, "", err)
		return broker.Code{}, true
	}
	if op == "subscribe" {
		k.subscribe(ctx, id, channels, since)
	} else {
		k.unsubscribe(id, channels)
	}
	return broker.Code{}, true
}

func (k *socket) refuse(id, channel string, err error) {
	k.reader.Push(broker.Text(errorFrame(id, channel, err)))
}

// authenticate takes an operator key. A wrong one ends the socket; a ledger that
// cannot be asked does not.
func (k *socket) authenticate(ctx context.Context, id string, o httpx.Object) (broker.Code, bool) {
	token := o.OptString("token", maxToken)
	if token == nil || !protocol.IsKey(*token) {
		return broker.Unauthenticated, false
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	me, err := k.all.holder(ctx, operator.Hash(*token))
	if err != nil {
		if apperr.Of(err).Kind == apperr.Unauthenticated {
			return broker.Unauthenticated, false
		}
		k.refuse(id, "", err)
		return broker.Code{}, true
	}
	if err := me.permit(read); err != nil {
		k.refuse(id, "", err)
		return broker.Code{}, true
	}
	if !k.all.Keys.Allow(ctx, me.name()).Allowed || !k.all.rekey(k.me.name(), me.name()) {
		return broker.RateLimited, false
	}
	ended := k.become(me)
	k.say(ackJSON{Op: "ack", ID: id, Channels: []string{}})
	for _, c := range ended {
		k.refuse(id, c.Shown(), errAnother)
	}
	return broker.Code{}, true
}

// named reads a channel as this reader may ask for it.
func (k *socket) named(name string) (feed.Channel, error) {
	c, known := feed.ParseChannel(name)
	switch {
	case !known:
		return "", errChannel
	case c != feed.Me:
		return c, nil
	case k.me.handle == "":
		return "", errOwn
	}
	return feed.MeChannel(k.me.handle), nil
}

// subscribe answers with an error for each channel that cannot be had and one
// ack for the others.
func (k *socket) subscribe(ctx context.Context, id string, names []string, since httpx.Object) {
	var wishes []catchUp
	for _, name := range names {
		c, err := k.named(name)
		if err != nil {
			k.refuse(id, name, err)
			continue
		}
		p := catchUp{channel: c, id: id}
		if raw := sinceOf(since, name, c); raw != nil {
			n, err := strconv.ParseInt(string(raw), 10, 64)
			if err != nil || n < 0 {
				k.refuse(id, name, errSince)
				continue
			}
			p.since, p.resumes = n, true
		}
		wishes = append(wishes, p)
	}
	k.listen(ctx, id, wishes)
}

// sinceOf is the number for a channel, however its name is spelt on either side.
func sinceOf(since httpx.Object, name string, c feed.Channel) []byte {
	if raw := since.Raw(name); raw != nil {
		return raw
	}
	for _, other := range since.Names() {
		if same, known := feed.ParseChannel(other); known && same.Shown() == c.Shown() {
			if raw := since.Raw(other); raw != nil {
				return raw
			}
		}
	}
	return nil
}

// listen begins each channel with its snapshot, goes on with what the reader missed
// behind since, and crosses over to live.
func (k *socket) listen(ctx context.Context, id string, wishes []catchUp) {
	acked := make([]string, 0, len(wishes))
	var plans []catchUp
	for _, p := range wishes {
		c := p.channel
		k.mu.Lock()
		old, again := k.subs[c]
		full := !again && len(k.subs) >= k.all.Limits.Subscriptions
		k.mu.Unlock()
		if full {
			k.refuse(id, c.Shown(), errFull)
			continue
		}
		acked = append(acked, c.Shown())
		if again && !p.resumes {
			continue // it listens already
		}
		if again {
			old.Close() // a reader that found a hole starts over from before it
		}
		p.sub = k.all.Broker.Subscribe(k.reader, c)
		switch {
		case !p.resumes:
		case p.since <= k.all.Broker.Head():
			p.sub.Start(p.since)
		default:
			p.unseen = true
		}
		k.mu.Lock()
		k.subs[c] = p.sub
		k.mu.Unlock()
		plans = append(plans, p)
	}
	if len(acked) > 0 {
		k.say(ackJSON{Op: "ack", ID: id, Channels: acked})
	}
	k.catchUp(ctx, plans)
}

func (k *socket) unsubscribe(id string, names []string) {
	acked := make([]string, 0, len(names))
	for _, name := range names {
		c, err := k.named(name)
		if err != nil {
			k.refuse(id, name, err)
			continue
		}
		k.mu.Lock()
		sub := k.subs[c]
		delete(k.subs, c)
		k.mu.Unlock()
		if sub != nil {
			sub.Close()
		}
		acked = append(acked, c.Shown())
	}
	if len(acked) > 0 {
		k.say(ackJSON{Op: "ack", ID: id, Channels: acked})
	}
}
