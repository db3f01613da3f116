// Checks the authorization server with openid-client, a common client library for Node servers.
import * as client from 'openid-client';
import { check, decide, equal, need, refused, expectStatus, assert } from './lib.mjs';

const issuer = need('ISSUER');
const redirect_uri = 'https://app.example/cb';
const scope = 'profile:read offline_access';
const options = { algorithm: 'oauth2', execute: [client.allowInsecureRequests] };
const found = (auth) => client.discovery(new URL(issuer), need('CONFIDENTIAL_APP'), undefined, auth, options);

let config;
await check('discovery by RFC 8414', async () => {
  config = await found(client.ClientSecretBasic(need('CONFIDENTIAL_SECRET')));
  const meta = config.serverMetadata();
  equal([meta.issuer, meta.supportsPKCE()], [issuer, true]);
  equal(meta.protocol.signature.prefix, 'denpa-message-v1', 'our own member');
});

async function grant(config) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri, scope, state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier), code_challenge_method: 'S256',
  });
  return client.authorizationCodeGrant(config, await decide(url), { pkceCodeVerifier, expectedState });
}

let tokens;
await check('a code grant of a confidential app, with its secret in the header', async () => {
  tokens = await grant(config);
  equal([tokens.token_type, tokens.scope], ['bearer', scope]);
  assert(tokens.expiresIn() > 890 && tokens.expiresIn() <= 900, `it lives ${tokens.expiresIn()} s`);
});
await check('and with its secret in the body', async () => {
  const other = await grant(await found(client.ClientSecretPost(need('CONFIDENTIAL_SECRET'))));
  assert(other.access_token && other.refresh_token, 'no tokens');
});
await check('the access token identifies its person', async () => {
  const res = await client.fetchProtectedResource(config, tokens.access_token, new URL(`${issuer}/me`), 'GET');
  equal((await res.json()).denpaId, tokens.denpaId);
});
let renewed;
await check('a refresh, with fewer scopes', async () => {
  renewed = await client.refreshTokenGrant(config, tokens.refresh_token, { scope: 'profile:read' });
  equal(renewed.scope, 'profile:read');
  assert(renewed.refresh_token !== tokens.refresh_token, 'the same refresh token again');
});
await check('introspection of an access and of a refresh token', async () => {
  const seen = await client.tokenIntrospection(config, renewed.access_token);
  equal([seen.active, seen.client_id, seen.scope, seen.sub], [true, need('CONFIDENTIAL_APP'), 'profile:read', tokens.denpaId]);
  const kept = await client.tokenIntrospection(config, renewed.refresh_token, { token_type_hint: 'refresh_token' });
  equal([kept.active, kept.scope], [true, scope]);
});
await check('revocation', async () => {
  await client.tokenRevocation(config, renewed.refresh_token);
  for (const token of [tokens.access_token, renewed.access_token, renewed.refresh_token]) {
    equal(await client.tokenIntrospection(config, token), { active: false });
  }
  await expectStatus(401, 'GET', `${issuer}/me`, { bearer: renewed.access_token });
});
await check('a refusal of the server is the error of the library', () =>
  refused(client.refreshTokenGrant(config, renewed.refresh_token), (err) => err.error === 'invalid_grant' && err.status === 400));
