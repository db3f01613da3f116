package pages

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	cataloguev1 "github.com/signalcast/signalcast/proto/catalogue/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
)

const (
	sitemapPath = "/sitemap.xml"
	xmlType     = "application/xml; charset=utf-8"
	// sitemapURLs is the maximum number of URLs in one sitemap.
	sitemapURLs = 50_000
	// cacheSitemap is the Cache-Control of sitemaps. The server builds them again after sitemapAge.
	cacheSitemap = "public, max-age=3600"
	sitemapAge   = time.Hour
	// contactLife is the time after the release for which the contact for security reports is valid.
	contactLife = 180 * 24 * time.Hour
)

// robots is the content of robots.txt (RFC 9309) without the address of the sitemap. It keeps crawlers away from pages that depend
// on the visitor and from data for programs.
const robots = "User-agent: *\nDisallow: /api/\nDisallow: /dev\nDisallow: /email/\nDisallow: /following\n" +
	"Disallow: /notifications\nDisallow: /protocol/\nDisallow: /report\n" +
	"Disallow: /search\nDisallow: /settings\nDisallow: /sign-in\nDisallow: /studio\nDisallow: /unsubscribe\n"

// robots handles GET /robots.txt.
func (s *server) robots(c echo.Context) error {
	return c.Blob(http.StatusOK, textType, []byte(robots+"\nSitemap: "+s.HubURL+sitemapPath+"\n"))
}

// security handles GET /.well-known/security.txt (RFC 9116). Error: not_found without a configured contact.
func (s *server) security(c echo.Context) error {
	if s.SecurityContact == "" {
		return httpx.ErrNotFound
	}
	released := s.ReleasedAt
	if released.IsZero() {
		released = s.started
	}
	expires := released.Add(contactLife).UTC().Format(time.RFC3339)
	return c.Blob(http.StatusOK, textType, []byte("Contact: "+s.SecurityContact+"\nExpires: "+expires+"\nPreferred-Languages: en\nCanonical: "+s.HubURL+"/.well-known/security.txt\n"))
}

// sitemapPages are the paths of the pages in the first sitemap, before those of markets and forecasters.
var sitemapPages = []string{
	homePath, site.MarketsPath, boardPath, livePath, feedPath, pulsePath, "/about", "/privacy", "/terms", guidesPath + "/", docsPath,
}

// mostSitemaps is the maximum number of sitemaps that the service has.
const mostSitemaps = 1000

// sitemap handles GET /sitemap.xml (sitemaps.org protocol). Without the parameter page, it is the index of the sitemaps. Errors:
// not_found for a page after the last one, db_unavailable.
func (s *server) sitemap(c echo.Context) error {
	key := c.QueryParam("page")
	if n, err := strconv.Atoi(key); key != "" && (err != nil || n < 1 || n > mostSitemaps || strconv.Itoa(n) != key) {
		return httpx.ErrNotFound
	}
	p, err := s.sitemaps.Get(c.Request().Context(), key, func(ctx context.Context, _ *httpcache.Page) (*httpcache.Page, error) {
		return s.buildSitemap(ctx, key)
	})
	if err != nil {
		return err
	}
	p.WriteTo(c.Response(), c.Request())
	return nil
}

// newSitemapCache returns the cache of the sitemaps by page; the index has the key "".
func newSitemapCache(now func() time.Time) *cache.Cache[string, *httpcache.Page] {
	return cache.New(cache.Options[string, *httpcache.Page]{
		TTL: sitemapAge, Stale: sitemapAge, IfError: 24 * time.Hour, Timeout: 20 * time.Second, MaxKeys: 64, Loads: 2, Now: now,
	})
}

// urlSet is a sitemap, and the index of sitemaps.
type urlSet struct {
	XMLName  xml.Name
	URLs     []location `xml:"url"`
	Sitemaps []location `xml:"sitemap"`
}

type location struct {
	Loc string `xml:"loc"`
}

// buildSitemap returns the sitemap with the number in key, or the index. Sitemaps omit forecasters whom an administrator has
// hidden or suspended. Errors: not_found, db_unavailable.
func (s *server) buildSitemap(ctx context.Context, key string) (*httpcache.Page, error) {
	const space = "http://www.sitemaps.org/schemas/sitemap/0.9"
	own := int64(len(sitemapPages))
	out, q := urlSet{XMLName: xml.Name{Space: space, Local: "urlset"}}, &cataloguev1.ListAddressesRequest{}
	page, _ := strconv.ParseInt(key, 10, 64)
	switch page {
	case 0:
		out.XMLName.Local = "sitemapindex"
	case 1:
		q.Limit = int32(sitemapURLs - own)
		for _, path := range sitemapPages {
			out.URLs = append(out.URLs, location{s.HubURL + path})
		}
	default:
		q.Offset, q.Limit = (page-1)*sitemapURLs-own, sitemapURLs
	}
	r, err := s.Ledger.Catalogue.ListAddresses(ctx, q)
	if err != nil {
		return nil, err
	}
	pages := (r.GetTotal() + own + sitemapURLs - 1) / sitemapURLs
	if page > pages {
		return nil, httpx.ErrNotFound
	}
	if page == 0 {
		for n := range pages {
			out.Sitemaps = append(out.Sitemaps, location{s.HubURL + sitemapPath + "?page=" + strconv.FormatInt(n+1, 10)})
		}
	}
	withheld, err := s.Withheld(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range r.GetAddresses() {
		switch {
		case a.GetMarketId() != "":
			out.URLs = append(out.URLs, location{s.HubURL + site.MarketPath + url.PathEscape(a.GetMarketId())})
		case !withheld[a.GetHandle()]:
			out.URLs = append(out.URLs, location{s.HubURL + site.PersonPath + a.GetHandle()})
		}
	}
	body, err := xml.Marshal(out)
	return httpcache.Make(append([]byte(xml.Header), body...)).As(xmlType), err
}
