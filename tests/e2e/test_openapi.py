"""The OpenAPI document of the program tour: a validator's verdict, and a client that npm's @hey-api/openapi-ts makes of it."""
# needs: npm
import json
import os
import subprocess

from tokens import SECRET, signed
from wire import Case, node, request

PERSON = {'name': 'Ada', 'age': 36, 'address': {'street': 'Lane 1', 'zip': '10115'}, 'tags': ['é', '']}


class OpenApi(Case):
    def tour(self):
        secret = os.path.join(self.folder(), 'secret')
        with open(secret, 'wb') as file:
            file.write(SECRET)
        return self.serve('--secret-file', secret, program='tour')

    def people(self, server, body):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return server.ask(request('POST', '/people', 'content-type: application/json', f'content-length: {len(body)}', body=body))

    def test_people(self):
        server = self.tour()
        response = self.people(server, PERSON)
        self.assertEqual((response.status, response.header('content-type')), (200, 'application/json'))
        self.assertEqual(json.loads(response.body), PERSON)
        wrong = {**PERSON, 'age': 1 << 32, 'address': {'street': 'Lane 1', 'town': 'B'}, 'tags': ['a', 3]}
        for body, pointers in (({**PERSON, 'age': -1}, ['#/age']),
                               ({}, ['#/name', '#/age', '#/address', '#/tags']),
                               (wrong, ['#/age', '#/address/town', '#/address/zip', '#/tags/1'])):
            response = self.people(server, body)
            self.assertProblem(response, 422)
            errors = json.loads(response.body)['errors']
            self.assertEqual([error['pointer'] for error in errors], pointers)
            self.assertTrue(all(error['detail'] for error in errors))
        for body in (b'', b'{', b'{"name":"a","name":"b"}', json.dumps(PERSON).encode() + b'}'):
            self.assertProblem(self.people(server, body), 400)

    def test_document(self):
        document = json.loads(self.tour().get('/openapi.json').body)
        self.assertEqual(document['openapi'], '3.1.0')
        self.assertEqual(document['paths']['/read']['get']['security'], [{'bearer': ['read']}])
        self.assertNotIn('security', document['paths']['/hello']['get'])
        self.assertNotIn('/openapi.json', document['paths'])
        self.assertEqual(document['components']['schemas']['person']['required'], ['name', 'age', 'address', 'tags'])

    def test_generated_client(self):
        server = self.tour()
        token = signed(roles=['admin'])
        done = subprocess.run(node('openapi.mjs', f'http://127.0.0.1:{server.port}', self.folder()), capture_output=True, text=True,
                              check=False, timeout=120, env={**os.environ, 'EDDY_TOKEN': token})
        self.assertEqual(done.returncode, 0, done.stderr)
        calls = json.loads(done.stdout)
        self.assertEqual(calls['version'], '3.1')
        self.assertEqual(calls['person'], {'status': 200, 'data': PERSON})
        self.assertEqual(calls['refused']['status'], 422)
        self.assertEqual([fault['pointer'] for fault in calls['refused']['error']['errors']], ['#/age', '#/tags/0'])
        self.assertEqual(calls['post'], {'status': 200, 'data': {'id': 42, 'slug': 'a b/c'}})
        self.assertEqual(calls['admin'], {'status': 200, 'data': 'admin'})
        self.assertEqual(calls['read']['status'], 403)
