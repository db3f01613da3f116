package grant

import (
	"context"
	"time"
)

// Register creates an app of the owner. It returns the app and, if the app is confidential, its secret. Only the hash of the
// secret is stored, so the secret cannot be returned again. Errors: invalid_request, invalid_redirect_uri, invalid_scope,
// limit_reached.
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

// Trust records that an administrator has reviewed an active app. If trusted is false, it withdraws the review. Error: not_found.
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

// ListApps returns the apps of the owner, newest first. It includes disabled apps.
func (s *Service) ListApps(ctx context.Context, ownerID string) ([]App, error) {
	return s.Store.ListApps(ctx, ownerID)
}

// App returns the app with this id, even if it is disabled. Error: not_found.
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

// ChangeApp changes an active app of the owner. If the change removes scopes, the app's tokens lose them with the next request.
// Errors: invalid_request, invalid_redirect_uri, invalid_scope, not_found.
func (s *Service) ChangeApp(ctx context.Context, ownerID, id string, c AppChange) (App, error) {
	if !isID(id) {
		return App{}, ErrNotFound
	}
	return s.Store.ChangeApp(ctx, ownerID, id, func(a *App) error { return a.apply(c, s.Resources()) })
}

// RenewSecret replaces the secret of a confidential app and returns the new secret, which cannot be read again. The old secret
// stays valid for 24 hours, or becomes invalid at once if immediate is true. Errors: not_found, public_client.
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
		a.replaceSecret(hash, now, immediate)
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// DisableApp permanently disables an app of the owner and revokes the grants of the app and their signers. A repeated call
// changes nothing. Error: not_found.
func (s *Service) DisableApp(ctx context.Context, ownerID, id string) error {
	if !isID(id) {
		return ErrNotFound
	}
	return s.Store.DisableApp(ctx, ownerID, id, s.Now())
}
