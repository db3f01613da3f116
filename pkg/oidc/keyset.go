package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// How keys are kept. Forged tokens must not make us hammer the provider, a key
// that the provider withdrew must die, and a provider that is away for a while
// must not sign everybody out.
const (
	maxAge       = time.Hour        // older keys are fetched again before use
	staleLimit   = 24 * time.Hour   // and used for this long when that fails
	unknownEvery = time.Minute      // least time between fetches caused by an unknown kid
	retryEvery   = 30 * time.Second // least time between failed fetches while old keys do
	firstRetry   = 2 * time.Second  // the same while there are none
	fetchTimeout = 3 * time.Second
)

var (
	errNoKeys = errors.New("no keys of the identity provider are at hand")
	errNoKey  = errors.New("no published key fits the token")
)

// keySet is an oidc.KeySet. It is safe for concurrent use.
type keySet struct {
	source source
	algs   []jose.SignatureAlgorithm
	now    func() time.Time

	mu        sync.Mutex
	keys      []jose.JSONWebKey
	fetchedAt time.Time // of keys
	triedAt   time.Time // last fetch that failed, zero after one that did not
	unknownAt time.Time // last fetch caused by an unknown kid
	flight    *flight
}

// flight is a fetch under way that everybody waits for.
type flight struct {
	done chan struct{}
	err  error
}

// ready makes sure that there are keys young enough to be used. Error:
// errNoKeys, with its cause.
func (k *keySet) ready(ctx context.Context) error {
	k.mu.Lock()
	now := k.now()
	age := now.Sub(k.fetchedAt)
	have := len(k.keys) > 0 && age < staleLimit
	pause := firstRetry
	if have {
		pause = retryEvery
	}
	if have && age < maxAge || have && now.Sub(k.triedAt) < pause {
		k.mu.Unlock()
		return nil
	}
	if k.flight == nil && now.Sub(k.triedAt) < pause {
		k.mu.Unlock()
		return errNoKeys
	}
	f := k.startLocked(ctx)
	k.mu.Unlock()
	if err := f.wait(ctx); err != nil && !have {
		return errors.Join(errNoKeys, err)
	}
	return nil
}

// VerifySignature implements oidc.KeySet: it gives the payload of a token that
// one of the published keys signed.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, k.algs)
	if err != nil {
		return nil, err
	}
	kid := jws.Signatures[0].Header.KeyID
	if payload, found, err := k.try(jws, kid); found {
		return payload, err
	}
	if !k.refetch(ctx) {
		return nil, errNoKey
	}
	payload, _, err := k.try(jws, kid)
	return payload, err
}

// try verifies with the keys of a kid, or with all when the token names none;
// found is false when there is no such key.
func (k *keySet) try(jws *jose.JSONWebSignature, kid string) (payload []byte, found bool, err error) {
	k.mu.Lock()
	keys := k.keys
	k.mu.Unlock()
	alg := jws.Signatures[0].Header.Algorithm
	err = errNoKey
	for i := range keys {
		if kid != "" && keys[i].KeyID != kid || keys[i].Algorithm != "" && keys[i].Algorithm != alg {
			continue
		}
		found = true
		if payload, err = jws.Verify(keys[i].Key); err == nil {
			return payload, true, nil
		}
	}
	return nil, found || kid == "", err
}

// refetch fetches because of an unknown kid, at most once a minute, and says
// whether the keys are new now.
func (k *keySet) refetch(ctx context.Context) bool {
	k.mu.Lock()
	f := k.flight
	if f == nil {
		now := k.now()
		if !k.unknownAt.IsZero() && now.Sub(k.unknownAt) < unknownEvery {
			k.mu.Unlock()
			return false
		}
		k.unknownAt = now
		f = k.startLocked(ctx)
	}
	k.mu.Unlock()
	return f.wait(ctx) == nil
}

// startLocked joins the fetch under way or starts one. It runs on its own time:
// a caller that leaves must not spoil it for the others.
func (k *keySet) startLocked(ctx context.Context) *flight {
	if k.flight != nil {
		return k.flight
	}
	f := &flight{done: make(chan struct{})}
	k.flight = f
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		keys, err := k.source.keys(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		if err == nil {
			k.keys, k.fetchedAt, k.triedAt = keys, k.now(), time.Time{}
		} else {
			k.triedAt = k.now()
		}
		f.err, k.flight = err, nil
		close(f.done)
	}()
	return f
}

func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
