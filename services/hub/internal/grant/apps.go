package grant

import (
	"context"
	"time"
)

// Register makes an app of the owner; the secret of a confidential one is told
// here and never again. Faults: invalid_request, invalid_redirect_uri,
// invalid_scope, limit_reached.
func (s *Service) Register(ctx context.Context, ownerID string, d AppDraft) (App, string, error) {
	a := App{ID: newID(), OwnerID: ownerID, Kind: d.Kind, CreatedAt: s.Now()}
	err := a.apply(AppChange{
		Name: &d.Name, RedirectURIs: &d.RedirectURIs, Scopes: &d.Scopes,
		Homepage: &d.Homepage, LogoURL: &d.LogoURL, AllowedResources: &d.AllowedResources,
	}, s.Resources())
	if err != nil {
		return App{}, "", err
	}
	var secret string
	if a.Kind == Confidential {
		var hash Hash
		secret, hash = mint(secretPrefix)
		a.Secret = &hash
	}
	if err := s.Store.AddApp(ctx, a, MaxApps); err != nil {
		return App{}, "", err
	}
	return a, secret, nil
}

// Trust records that an administrator has reviewed an active app, or that the review no
// longer holds. Fault: not_found.
func (s *Service) Trust(ctx context.Context, id string, trusted bool) (App, error) {
	if !isID(id) {
		return App{}, ErrNotFound
	}
	return s.Store.ChangeApp(ctx, "", id, func(a *App) error {
		switch {
		case !trusted:
			a.TrustedAt = time.Time{}
		case !a.Trusted():
			a.TrustedAt = s.Now()
		}
		return nil
	})
}

// ListApps gives the owner's apps, newest first, disabled ones too.
func (s *Service) ListApps(ctx context.Context, ownerID string) ([]App, error) {
	return s.Store.ListApps(ctx, ownerID)
}

// App gives what is public of an app; a disabled one too. Fault: not_found.
func (s *Service) App(ctx context.Context, id string) (App, error) {
	if !isID(id) {
		return App{}, ErrNotFound
	}
	a, err := s.Store.FindApp(ctx, id)
	if err != nil {
		return App{}, err
	}
	if a == nil {
		return App{}, ErrNotFound
	}
	return *a, nil
}

// ChangeApp changes an active app of the owner. What it may ask for no longer is
// taken from its grants with the next request. Faults: invalid_request,
// invalid_redirect_uri, invalid_scope, not_found.
func (s *Service) ChangeApp(ctx context.Context, ownerID, id string, c AppChange) (App, error) {
	if !isID(id) {
		return App{}, ErrNotFound
	}
	return s.Store.ChangeApp(ctx, ownerID, id, func(a *App) error { return a.apply(c, s.Resources()) })
}

// RenewSecret gives an app of the owner another secret, which is told here and
// never again. The one before works for 24 hours more, or not at all when
// immediate. Faults: not_found, public_client.
func (s *Service) RenewSecret(ctx context.Context, ownerID, id string, immediate bool) (string, error) {
	if !isID(id) {
		return "", ErrNotFound
	}
	secret, hash := mint(secretPrefix)
	now := s.Now()
	_, err := s.Store.ChangeApp(ctx, ownerID, id, func(a *App) error {
		if a.Kind != Confidential {
			return ErrPublicClient
		}
		a.renew(hash, now, immediate)
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// DisableApp ends an app of the owner for good, with its grants and their
// signers; doing it again changes nothing. Fault: not_found.
func (s *Service) DisableApp(ctx context.Context, ownerID, id string) error {
	if !isID(id) {
		return ErrNotFound
	}
	return s.Store.DisableApp(ctx, ownerID, id, s.Now())
}
