package pages

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/picture"
)

const (
	cachePicture = "public, max-age=300"
	// pictureTimeout is the time limit of a request that may fetch a picture from another server.
	pictureTimeout = 8 * time.Second
)

// picture handles GET /u/{handle}/picture. Errors: not_found without a picture and for a closed, suspended or deleted account,
// db_unavailable, and the errors of the ledger.
func (s *server) picture(c echo.Context, account identityclaim.Account) error {
	ctx := c.Request().Context()
	suspended, err := s.People.Payouts.Suspended(ctx, account.Handle)
	if err != nil {
		return err
	}
	if suspended || !account.ClosingAt.IsZero() || account.Handle.IsDeleted() {
		return httpx.ErrNotFound
	}
	jpeg, err := s.People.Pictures.Find(ctx, account.Operator)
	switch {
	case errors.Is(err, picture.ErrNone), errors.Is(err, picture.ErrWait):
		return httpx.ErrNotFound
	case err != nil:
		return err
	}
	httpcache.Make(jpeg).As("image/jpeg").WriteTo(c.Response(), c.Request())
	return nil
}

// profilePicture is the picture of a profile form. Without a change, nothing is stored.
type profilePicture struct {
	change   operator.Change
	jpeg     []byte
	uploaded bool
}

// pictureOf returns the picture of a profile form: an uploaded one, that of a new address, or none for an empty address. problem
// is the error text of the field; empty: none. Error: db_unavailable.
func (s *server) pictureOf(
	ctx context.Context, account identityclaim.Account, input profileForm,
) (p profilePicture, problem string, err error) {
	pictures := s.People.Pictures
	switch {
	case input.Picture != "":
		raw := base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(input.Picture))
		if p.jpeg, err = picture.Decode(raw); err != nil {
			return p, "This file is not a picture that can be read. Choose another one.", nil
		}
		p.change, p.uploaded = changeTo(pictures.Address(account.Handle)), true
		return p, "", nil
	case input.Avatar == account.AvatarURL:
		return p, "", nil
	}
	if p.change = changeTo(input.Avatar); input.Avatar == "" {
		return p, "", nil
	}
	switch p.jpeg, err = pictures.Fetch(ctx, account.ID, input.Avatar); {
	case errors.Is(err, picture.ErrNone):
		return p, "This address does not answer with a picture. Enter the address of a PNG, JPEG, GIF or WebP file of at most 2 MB " +
			"and 4096 by 4096 pixels.", nil
	case errors.Is(err, picture.ErrWait):
		return p, "The picture cannot be fetched right now. Save again in 10 seconds.", nil
	}
	return p, "", err
}

// storePicture stores the picture of a profile form after its address has been stored. Error: db_unavailable.
func (s *server) storePicture(ctx context.Context, account identityclaim.Account, p profilePicture) error {
	if p.change.Text == nil {
		if p.change.Given || account.AvatarURL == "" {
			return s.People.Pictures.Delete(ctx, account.ID)
		}
		return nil
	}
	return s.People.Pictures.Replace(ctx, account.ID, *p.change.Text, p.jpeg)
}

// addAvatars sets the avatars of broadcasts. Without the account of a forecaster, the initials of the handle are shown.
func (s *server) addAvatars(ctx context.Context, rows []broadcastRow) {
	ctx, cancel := context.WithTimeout(ctx, titlesTimeout)
	defer cancel()
	var all sync.WaitGroup
	for i := range rows {
		all.Go(func() {
			account, _ := s.accountOf(ctx, rows[i].Handle)
			rows[i].Avatar = site.AvatarOf(rows[i].Handle, account.DisplayName, account.AvatarURL)
		})
	}
	all.Wait()
}
