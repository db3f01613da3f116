package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Limits of the key cache. Forged tokens must not cause many requests to the provider, a withdrawn key must not be accepted for
// long, and a short outage of the provider must not invalidate all sessions.
const (
	maxAge          = time.Hour        // older keys are requested again before use
	staleLimit      = 24 * time.Hour   // maximum age of keys that are used if the request fails
	unknownInterval = time.Minute      // minimum time between requests caused by an unknown kid
	retryInterval   = 30 * time.Second // minimum time between failed requests while old keys are usable
	firstRetry      = 2 * time.Second  // minimum time between failed requests without usable keys
	fetchTimeout    = 3 * time.Second
)

var (
	errNoKeys = errors.New("no usable keys of the identity provider")
	errNoKey  = errors.New("no published key matches the token")
)

// keySet caches the keys of one provider and implements oidc.KeySet. It is safe for concurrent use.
type keySet struct {
	source source
	algs   []jose.SignatureAlgorithm
	now    func() time.Time

	mu        sync.Mutex
	keys      []jose.JSONWebKey
	fetchedAt time.Time // time of the request that returned keys
	triedAt   time.Time // time of the last request if it failed, else zero
	unknownAt time.Time // time of the last request caused by an unknown kid
	fetch     *fetch
}

// fetch is a running request for keys. All callers that need keys wait for the same request.
type fetch struct {
	done chan struct{}
	err  error
}

// ready returns nil if usable keys are cached. It first requests the keys if none are cached or they are older than maxAge.
// If that request fails, keys up to the age staleLimit stay usable, and the next request is delayed by retryInterval or
// firstRetry. Without usable keys, ready returns errNoKeys, joined with the error of the request if there was one.
func (k *keySet) ready(ctx context.Context) error {
	k.mu.Lock()
	now := k.now()
	age := now.Sub(k.fetchedAt)
	have := len(k.keys) > 0 && age < staleLimit
	pause := firstRetry
	if have {
		pause = retryInterval
	}
	if have && age < maxAge || have && now.Sub(k.triedAt) < pause {
		k.mu.Unlock()
		return nil
	}
	if k.fetch == nil && now.Sub(k.triedAt) < pause {
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

// VerifySignature implements oidc.KeySet. It returns the payload of a token whose signature matches a published key. If no cached
// key has the kid of the token, VerifySignature requests the keys again.
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

// try verifies a token with the cached keys that match its algorithm and have the given kid. If kid is empty, it tries all
// keys for the algorithm. found is false if kid is set and no key matches.
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

// refetch requests the keys because of an unknown kid, at most once a minute. It reports whether the keys were
// updated.
func (k *keySet) refetch(ctx context.Context) bool {
	k.mu.Lock()
	f := k.fetch
	if f == nil {
		now := k.now()
		if !k.unknownAt.IsZero() && now.Sub(k.unknownAt) < unknownInterval {
			k.mu.Unlock()
			return false
		}
		k.unknownAt = now
		f = k.startLocked(ctx)
	}
	k.mu.Unlock()
	return f.wait(ctx) == nil
}

// startLocked returns the running request or starts one. The caller must hold k.mu. The request does not end with the context
// of its first caller, because others wait for it.
func (k *keySet) startLocked(ctx context.Context) *fetch {
	if k.fetch != nil {
		return k.fetch
	}
	f := &fetch{done: make(chan struct{})}
	k.fetch = f
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
		f.err, k.fetch = err, nil
		close(f.done)
	}()
	return f
}

func (f *fetch) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
