"""The metadata documents of a program: by bytes, and by a reader of others."""
# needs: npm
import json
import os
import subprocess
import unittest

from wire import Case, Server, node, request

RESOURCE = '/.well-known/oauth-protected-resource'
SERVER = '/.well-known/oauth-authorization-server'
OPENID = '/.well-known/openid-configuration'


def discover(server, kind, identifier):
    """Return: the document that the identifier leads to, as oauth4webapi reads it."""
    done = subprocess.run(node('metadata.mjs', f'http://127.0.0.1:{server.port}', kind, identifier), capture_output=True, text=True,
                          check=False, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Metadata(Case):
    def tour(self, *args):
        return self.serve(*args, program='tour')

    def file(self, text):
        path = os.path.join(self.folder(), 'app.toml')
        with open(path, 'w') as file:
            file.write(text)
        return path

    def test_by_bytes(self):
        server = self.tour('--resource', 'https://api.example/v1', '--authorization-server', 'https://issuer.example/t')
        resource = b'{"resource":"https://api.example/v1","scopes_supported":["read","write"],"bearer_methods_supported":["header"]}'
        issuer = (b'{"issuer":"https://issuer.example/t","authorization_endpoint":"https://issuer.example/t/authorize",'
                  b'"token_endpoint":"https://issuer.example/t/token","jwks_uri":"https://issuer.example/t/jwks",'
                  b'"response_types_supported":["code"],"grant_types_supported":["authorization_code"],'
                  b'"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["RS256"]}')
        with server.connect() as wire:
            for path, body in ((RESOURCE, resource), (RESOURCE + '/v1', resource), (SERVER, issuer), (SERVER + '/t', issuer),
                               (OPENID, issuer), ('/t' + OPENID, issuer)):
                for method in ('GET', 'HEAD'):
                    with self.subTest(path, method=method):
                        response = wire.ask(request(method, path), head=method == 'HEAD')
                        self.assertEqual(response.status, 200)
                        self.assertEqual(response.header('content-type'), 'application/json')
                        self.assertEqual(response.header('cache-control'), 'public, max-age=3600')
                        self.assertEqual(response.header('access-control-allow-origin'), '*')
                        self.assertEqual(response.header('content-length'), str(len(body)))
                        self.assertEqual(response.body, b'' if method == 'HEAD' else body)
            self.assertProblem(wire.ask(request('POST', SERVER)), 405)
            for path in (RESOURCE + '/v2', OPENID + '/t', '/v1' + OPENID):
                self.assertProblem(wire.ask(request('GET', path)), 404)

    def test_metadata_documents_are_for_any_origin(self):
        server = self.tour('--resource', 'https://api.example', '--authorization-server', 'https://issuer.example')
        for path in (RESOURCE, SERVER, OPENID):
            self.assertEqual(server.get(path, 'Origin: https://page.example').header('access-control-allow-origin'), '*')
        self.assertIsNone(server.get('/', 'Origin: https://page.example').header('access-control-allow-origin'))

    def test_authorization_server_alone_is_what_rfc_8414_accepts(self):
        """Section 2: what is mandatory for a server whose grant is an authorization code."""
        for issuer in ('https://issuer.example', 'https://issuer.example/', 'https://issuer.example/t'):
            server = self.tour('--authorization-server', issuer)
            kinds = ('oauth2', SERVER), ('oidc', OPENID)
            for kind, path in kinds:
                document = server.get(path).json()
                self.assertEqual(document['issuer'], issuer)
                self.assertIn('code', document['response_types_supported'])
                self.assertEqual(document['grant_types_supported'], ['authorization_code'])
                for name in ('authorization_endpoint', 'token_endpoint', 'jwks_uri'):
                    self.assertRegex(document[name], rf'^{issuer.rstrip("/")}/[a-z]+$')
                # OpenID Connect Discovery, section 3.
                self.assertEqual((document['subject_types_supported'], document['id_token_signing_alg_values_supported']), (['public'], ['RS256']))
                self.assertEqual(discover(server, kind, issuer)['issuer'], issuer)

    def test_only_what_is_asked_for(self):
        server = self.tour('--config', self.file('[oauth.resource]\nresource = "https://api.example"\n'
                                                 '[oauth.server]\nissuer = "https://issuer.example"\n'))
        with server.connect() as wire:
            for path in (RESOURCE, SERVER, OPENID):
                self.assertProblem(wire.ask(request('GET', path)), 404)

    def test_the_file_wins(self):
        path = self.file('[oauth.resource]\nresource = "https://api.example/x"\nauthorization_servers = ["https://issuer.example"]\n'
                         'scopes_supported = ["all"]\n"x-y" = { z = [1, 2.5, 2020-01-01] }\n')
        server = self.tour('--resource', 'http://localhost:1', '--config', path)
        for at in (RESOURCE, RESOURCE + '/x'):
            self.assertEqual(server.get(at).json(), {
                'resource': 'https://api.example/x', 'authorization_servers': ['https://issuer.example'], 'scopes_supported': ['all'],
                'bearer_methods_supported': ['header'], 'x-y': {'z': [1, 2.5, '2020-01-01']}})

    def test_others_find_them(self):
        full = self.file('[oauth.resource]\nauthorization_servers = ["https://issuer.example/t"]\n'
                         '[oauth.server]\nauthorization_endpoint = "https://issuer.example/authorize"\n'
                         'token_endpoint = "https://issuer.example/token"\njwks_uri = "https://issuer.example/keys"\n'
                         'subject_types_supported = ["public"]\nid_token_signing_alg_values_supported = ["ES256"]\n')
        for resource, issuer in (('https://api.example/', 'https://issuer.example'), ('https://api.example/v1/a%20b', 'https://issuer.example/t'),
                                 ('https://api.example:8443/v1/?tenant=7', 'https://issuer.example/t/%7Bu%7D')):
            with self.subTest(resource, issuer=issuer):
                server = self.tour('--resource', resource, '--authorization-server', issuer, '--config', full)
                document = discover(server, 'resource', resource)
                self.assertEqual(document['resource'], resource)
                self.assertEqual(document['authorization_servers'], ['https://issuer.example/t'])
                for kind in ('oauth2', 'oidc'):
                    document = discover(server, kind, issuer)
                    self.assertEqual(document['issuer'], issuer)
                    self.assertEqual(document['jwks_uri'], 'https://issuer.example/keys')
                    self.assertEqual(document['subject_types_supported'], ['public'])

    def test_mistakes_end_the_start(self):
        for args, said in (
                (('--resource', 'localhost:7878'),
                 'eddy::app: OAuth resource metadata: resource: expected an absolute http or https URL without userinfo and fragment, '
                 'not "localhost:7878"'),
                (('--authorization-server', 'https://issuer.example/?x'),
                 'eddy::app: OAuth server metadata: issuer: expected an absolute http or https URL without userinfo, query and fragment, '
                 'not "https://issuer.example/?x"')):
            server = Server(*args, program='tour', start=False)
            self.assertEqual(server.wait(), 1)
            self.assertEqual([line.split(' ERROR ')[1] for line in server.log.splitlines()], [said])


if __name__ == '__main__':
    unittest.main()
