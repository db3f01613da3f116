package pages

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/cache"
	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/grant"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/reference"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

//go:embed templates/*.html
var templateFiles embed.FS

type server struct {
	*site.Site
	files
	socket  string // URL of the live feed; empty: none
	skills  site.ResponseCache[recordv1.GetSkillResponse]
	courses site.ResponseCache[recordv1.GetCourseResponse]
	pulses  site.ResponseCache[recordv1.GetPulseResponse]
	// sitemaps has the sitemaps by number; "" is the key of their index.
	sitemaps *cache.Cache[string, *httpcache.Page]
	started  time.Time
	shows    *cache.Cache[struct{}, []livestream.Show]
	known    *cache.Cache[protocol.MarketID, *marketv1.Market] // markets that were read last
}

// Mount adds the HTML pages to the router of the hub, and the error page for unknown paths. It returns an error if a static file
// or a template is invalid.
func Mount(e *httpx.Router, d site.Deps) error {
	static, err := readFiles()
	if err != nil {
		return err
	}
	s := &server{
		Site: &site.Site{Deps: d, Templates: map[string]*template.Template{}}, files: static,
		skills:   site.NewResponseCache[recordv1.GetSkillResponse](d.Now),
		courses:  site.NewResponseCache[recordv1.GetCourseResponse](d.Now),
		pulses:   site.NewResponseCache[recordv1.GetPulseResponse](d.Now),
		sitemaps: newSitemapCache(d.Now), started: d.Now(), known: newKnownMarkets(d.Now), shows: newShowCache(d.Now),
	}
	if d.APIURL != "" {
		s.socket = strings.Replace(d.APIURL, "http", "ws", 1) + "/ws"
	}
	words := template.FuncMap{
		"file":      func(name string) string { return s.addresses[name] },
		"socket":    func() string { return s.socket },
		"hub":       func() string { return d.HubURL },
		"scopes":    func() []string { return grant.AllScopes().Words() },
		"has":       slices.Contains[[]string],
		"place":     func(i int) int { return i + 1 },
		"signed":    func(n int64) string { return format.Signed(int(n)) },
		"ago":       func(t time.Time) template.HTML { return agoElement(t, d.Now()) },
		"shortWhen": func(t time.Time) string { return t.UTC().Format("2 Jan, 15:04 UTC") },
		"grouped":   format.Grouped, "lengthOf": lengthOf, "link": format.Link, "countOf": format.CountOf, "nameOf": format.NameOf, "scopeTitle": scopeTitle,
		"shortKey": shortKey, "sideClass": format.SideClass, "stamp": protocol.Stamp, "trendOf": trendOf, "when": format.When, "titleCase": format.TitleCase[protocol.Lane],
		"wholePercent": wholePercent, "markdown": reference.HTML,
	}
	for _, name := range []string{
		"home", "receipt", "market", "markets", "dev", "consent", "apps", "signin", "profile", "person", "feed", "board", "network",
		"pulse", "search", "settings", "report", "live_list", "tip", "embed", "error", "overlay", "live", "clip", "tv", "studio", "docs",
		"article", "compare", "status", "member", "notifications", "switches", "following", "letter", "welcome",
	} {
		t, err := template.New(name+".html").Funcs(words).ParseFS(templateFiles,
			"templates/base.html", "templates/passport.html", "templates/plots.html", "templates/call.html", "templates/"+name+".html")
		if err != nil {
			return fmt.Errorf("read page %s: %w", name, err)
		}
		s.Templates[name] = t
	}
	routes := s.routes()
	for _, r := range routes {
		if r.Method == http.MethodGet {
			s.Pages = append(s.Pages, parameter.ReplaceAllString(r.Path, "*"))
		}
	}
	httpx.Mount(e, routes)
	e.Use(s.unknownPath)
	return nil
}

// agoElement returns a time element with the age of a time. Its title is the time in UTC.
func agoElement(t, now time.Time) template.HTML {
	return template.HTML(`<time datetime="` + protocol.Stamp(t) + `" title="` + format.When(t) + `" data-ago>` + format.Ago(t, now) + `</time>`) //nolint:gosec // no text of others
}

// parameter matches a parameter in the path of a route.
var parameter = regexp.MustCompile(`:[^/]+`)

func (s *server) routes() []httpx.Route {
	page := func(method, path, who, cache string, h echo.HandlerFunc) httpx.Route {
		if method == http.MethodGet && path != "/dev" && !strings.HasPrefix(path, "/dev/") {
			h = s.PublicRead(h)
		} else {
			h = site.WithoutBearer(h)
		}
		return httpx.Route{Method: method, Path: path, Who: strings.Fields(who), Cache: cache, Handler: s.WithAccount(h)}
	}
	download := page(http.MethodGet, site.SettingsPath+"/export/:id", "public session", "no-store", s.downloadExport)
	download.Timeout = -1 // an archive can have any size
	change := page(http.MethodPost, "/profile", "session", "no-store", s.accountForm(s.changeProfile))
	change.Timeout = pictureTimeout
	return []httpx.Route{
		page(http.MethodGet, site.ReceiptPath+":id", "public", request.CacheShort, s.receipt),
		page(http.MethodGet, site.MarketPath+":marketId", "public", request.CacheShort, s.market),
		page(http.MethodPost, site.ReceiptPath+":id/events", "public session", "no-store", s.appendEvent),
		page(http.MethodPost, site.MarketPath+":marketId/call", "public session", "no-store", s.fileCall),
		page(http.MethodPost, site.MarketPath+":marketId/watch", "session", "no-store", s.changeWatch),
		page(http.MethodGet, site.MarketsPath, "public", request.CacheShort, s.markets),
		page(http.MethodGet, searchPath, "public", request.CacheShort, s.search),
		{
			Method: http.MethodGet, Path: searchPath + "/suggest", Who: []string{"public"}, Cache: request.CacheShort,
			Handler: s.PublicRead(s.suggest),
		},
		page(http.MethodGet, feedPath, "public", request.CacheShort, s.feed),
		page(http.MethodGet, boardPath, "public", request.CacheShort, s.board),
		page(http.MethodGet, networkPath, "public", request.CacheShort, s.network),
		page(http.MethodGet, pulsePath, "public", request.CacheShort, s.pulse),
		page(http.MethodGet, docsPath, "public", request.CacheShort, s.docs),
		page(http.MethodGet, docsPath+"/operations/:operation", "public", request.CacheShort, s.docsOperation),
		page(http.MethodGet, docsPath+"/schemas/:schema", "public", request.CacheShort, s.docsSchema),
		page(http.MethodGet, homePath, "public", request.CacheShort, s.home),
		page(http.MethodGet, "/about", "public", cacheGuides, s.article("about.md", "/about")),
		page(http.MethodGet, "/privacy", "public", cacheGuides, s.article("privacy.md", "/privacy")),
		page(http.MethodGet, "/terms", "public", cacheGuides, s.article("terms.md", "/terms")),
		page(http.MethodGet, statusPath, "public", "no-store", s.status),
		page(http.MethodGet, comparePath, "public", request.CacheShort, s.compare),
		page(http.MethodGet, "/dev", "login", "no-store", s.dev),
		page(http.MethodPost, "/dev/session", "login", "no-store", s.receiveToken),
		page(http.MethodGet, "/dev/session", "login", "no-store", s.startSession),
		page(http.MethodPost, "/dev/keys", "login", "no-store", s.developerForm(fillKey, s.mint)),
		page(http.MethodPost, "/dev/keys/revoke", "login", "no-store", s.developerForm(nil, s.revoke)),
		page(http.MethodPost, "/dev/apps", "login", "no-store", s.developerForm(fillNewApp, s.registerApp)),
		page(http.MethodPost, "/dev/apps/change", "login", "no-store", s.developerForm(fillApp, s.changeApp)),
		page(http.MethodPost, "/dev/apps/secret", "login", "no-store", s.developerForm(nil, s.renewSecret)),
		page(http.MethodPost, "/dev/apps/disable", "login", "no-store", s.developerForm(nil, s.disableApp)),
		page(http.MethodPost, "/dev/signers/revoke", "login", "no-store", s.developerForm(nil, s.revokeSigner)),
		page(http.MethodGet, site.SignInPath, "public", "no-store", s.signIn),
		page(http.MethodPost, site.SignOutPath, "public", "no-store", s.signOut),
		page(http.MethodGet, site.WelcomePath, "public session", "no-store", s.welcome),
		page(http.MethodPost, site.WelcomePath, "session", "no-store", s.answerWelcome),
		page(http.MethodGet, site.AuthorizePath, "public session", "no-store", s.authorize),
		page(http.MethodPost, site.AuthorizePath, "session", "no-store", s.decide),
		page(http.MethodGet, site.AppsPath, "public session", "no-store", s.apps),
		page(http.MethodPost, "/apps/revoke", "session", "no-store", s.disconnect),
		{Method: http.MethodGet, Path: "/apps", Who: []string{"public"}, Cache: cacheFiles, Handler: s.PublicRead(movedTo(site.AppsPath))},
		{Method: http.MethodGet, Path: "/profile", Who: []string{"public"}, Cache: cacheFiles, Handler: s.PublicRead(movedTo(site.ProfilePath))},
		page(http.MethodGet, site.ProfilePath, "public session", "no-store", s.profile),
		page(http.MethodPost, site.SettingsPath+"/handle", "session", "no-store", s.accountForm(s.changeHandle)),
		change,
		page(http.MethodPost, "/profile/claims", "session", "no-store", s.accountForm(s.claimWallet)),
		page(http.MethodPost, "/profile/claims/drop", "session", "no-store", s.accountForm(s.dropClaim)),
		page(http.MethodGet, site.PersonPath+":handle", "public", request.CacheShort, s.anyPerson),
		page(http.MethodGet, "/operator/:handle/embed", "public", request.CacheShort, s.byHandle(s.embed)),
		page(http.MethodGet, site.LivePath+":handle", "public", request.CacheShort, s.byHandle(s.live)),
		page(http.MethodGet, clipPath+":id", "public", request.CacheShort, s.clip),
		page(http.MethodGet, tipPath+":handle", "public", request.CacheShort, s.tip),
		page(http.MethodGet, tvPath, "public", "no-store", s.tv),
		page(http.MethodGet, site.StudioPath, "public session", "no-store", s.studio),
		page(http.MethodPost, site.StudioPath, "session", "no-store", s.applyToStream),
		page(http.MethodPost, ingestPath, "login", "no-store", s.provision),
		{
			Method: http.MethodGet, Path: "/overlay/:handle", Who: []string{"public"}, Cache: request.CacheShort,
			Handler: s.WithPageHeaders(s.PublicRead(s.overlay)),
		},
		page(http.MethodGet, site.NotificationsPath, "public session", "no-store", s.notifications),
		page(http.MethodPost, site.NotificationsPath+"/read", "session", "no-store", s.readNotifications),
		page(http.MethodGet, site.NotificationSettingsPath, "public session", "no-store", s.notificationSettings),
		page(http.MethodPost, site.NotificationSettingsPath, "session", "no-store", s.changeNotificationSettings),
		page(http.MethodGet, site.FollowingPath, "public session", "no-store", s.following),
		page(http.MethodPost, site.PersonPath+":handle/mute", "session", "no-store", s.mute),
		page(http.MethodPost, site.PersonPath+":handle/unmute", "session", "no-store", s.unmute),
		page(http.MethodPost, site.PersonPath+":handle/follow", "session", "no-store", s.follow),
		page(http.MethodPost, site.PersonPath+":handle/unfollow", "session", "no-store", s.unfollow),
		page(http.MethodGet, livePath, "public", request.CacheShort, s.liveList),
		page(http.MethodGet, site.SettingsPath, "public session", "no-store", s.settings),
		page(http.MethodPost, site.SettingsPath+"/sessions/revoke", "session", "no-store", s.revokeSession),
		page(http.MethodPost, site.SettingsPath+"/sessions/revoke-all", "session", "no-store", s.revokeSessions),
		page(http.MethodPost, site.SettingsPath+"/push", "session", "no-store", s.changePush),
		page(http.MethodPost, emailPath, "session", "no-store", s.changeEmail),
		page(http.MethodGet, confirmPath, "public", "no-store", s.confirmation),
		page(http.MethodPost, confirmPath, "public", "no-store", s.confirmEmail),
		page(http.MethodGet, unsubscribePath, "public", "no-store", s.unsubscription),
		page(http.MethodPost, unsubscribePath, "public", "no-store", s.unsubscribe),
		page(http.MethodPost, site.SettingsPath+"/export", "session", "no-store", s.startExport),
		download,
		page(http.MethodPost, site.SettingsPath+"/delete", "session", "no-store", s.deleteAccount),
		page(http.MethodPost, site.SettingsPath+"/delete/cancel", "session", "no-store", s.cancelDeletion),
		page(http.MethodGet, site.ReportPath, "public session", "no-store", s.reportForm),
		page(http.MethodPost, site.ReportPath, "session", "no-store", s.report),
		page(http.MethodPost, site.ThemePath, "public", "no-store", s.ChangeTheme),
		{
			Method: http.MethodGet, Path: docsPath + "/", Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.WithPageHeaders(s.PublicRead(s.docsFolder)),
		},
		{
			Method: http.MethodGet, Path: guidesPath, Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.WithPageHeaders(s.PublicRead(s.firstGuide)),
		},
		{
			Method: http.MethodGet, Path: guidesPath + "/", Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.WithPageHeaders(s.PublicRead(s.guides)),
		},
		{
			Method: http.MethodGet, Path: guidesPath + "/:file", Who: []string{"public"}, Cache: cacheGuides,
			Handler: s.WithPageHeaders(s.PublicRead(s.guides)),
		},
		{Method: http.MethodGet, Path: "/robots.txt", Who: []string{"public"}, Cache: cacheFiles, Handler: s.PublicRead(s.robots)},
		{Method: http.MethodGet, Path: atomFile, Who: []string{"public"}, Cache: request.CacheShort, Handler: s.PublicRead(s.siteAtom)},
		{
			Method: http.MethodGet, Path: site.PersonPath + ":handle" + atomFile, Who: []string{"public"}, Cache: request.CacheShort,
			Handler: s.PublicRead(s.byHandle(s.personAtom)),
		},
		{
			Method: http.MethodGet, Path: site.PersonPath + ":handle/picture", Who: []string{"public"}, Cache: cachePicture,
			Timeout: pictureTimeout, Handler: s.PublicRead(s.byHandle(s.picture)),
		},
		{
			Method: http.MethodGet, Path: site.MarketPath + ":marketId" + atomFile, Who: []string{"public"}, Cache: request.CacheShort,
			Handler: s.PublicRead(s.marketAtom),
		},
		{Method: http.MethodGet, Path: sitemapPath, Who: []string{"public"}, Cache: cacheSitemap, Handler: s.PublicRead(s.sitemap)},
		{Method: http.MethodGet, Path: "/.well-known/security.txt", Who: []string{"public"}, Cache: cacheFiles, Handler: s.PublicRead(s.security)},
		{Method: http.MethodGet, Path: "/favicon.ico", Who: []string{"public"}, Cache: cacheFiles, Handler: s.PublicRead(s.favicon)},
		{
			Method: http.MethodGet, Path: "/static/:file", Who: []string{"public"}, Cache: "public, max-age=31536000, immutable",
			Handler: s.PublicRead(s.static),
		},
	}
}
