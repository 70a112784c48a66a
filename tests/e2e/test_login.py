"""The recipe login with oidc-provider: a browser's way through the authorization code flow, and what others can't do with it."""
# needs: npm
import http.cookiejar
import os
import re
import secrets
import socket
import unittest
import urllib.error
import urllib.parse
import urllib.request

from issuers import Node, Place
from wire import PROGRAMS, Case


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    def __init__(self):
        self.jar = http.cookiejar.CookieJar()
        self.follow = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))
        self.stay = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar), Stay())

    def get(self, url, form=None, follow=True):
        """Return: status, the last URL (of a redirect that is not followed: its target), text."""
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        try:
            with (self.follow if follow else self.stay).open(url, data, timeout=20) as answer:
                return answer.status, answer.url, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, urllib.parse.urljoin(url, error.headers.get('location', url)), error.read().decode()


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        return listener.getsockname()[1]


@unittest.skipUnless(os.path.exists(PROGRAMS['login']), 'needs the program login')
class Login(Case):
    def setUp(self):
        place = Place()
        self.addCleanup(place.close)
        self.issuer = f'http://127.0.0.1:{place.port}'
        port = free_port()
        self.base = f'http://127.0.0.1:{port}'
        node = Node('issuer.mjs', 'login', place.port, f'{self.base}/callback')
        self.addCleanup(node.close)
        self.assertEqual(node.said(), f'at {self.issuer}')
        self.server = self.serve(f'127.0.0.1:{port}', self.base, program='login', wrap=('env', '-C', self.folder_of_keys()), log='warn,eddy::app=info',
                                 env={'LOGIN_ISSUER': self.issuer, 'LOGIN_CLIENT': 'shop', 'LOGIN_SECRET': 'a secret & more'})

    def go_to_callback(self, browser, user='ada'):
        """Log in at the issuer's pages. Return: the URL that the issuer sends the browser to."""
        status, url, text = browser.get(f'{self.base}/')
        self.assertEqual(status, 200, text)
        self.assertTrue(url.startswith(f'{self.issuer}/interaction/'), url)
        for form in ({'prompt': 'login', 'login': user, 'password': 'any'}, {'prompt': 'consent'}):
            action = urllib.parse.urljoin(url, re.search(r'<form[^>]* action="([^"]+)"', text)[1])
            status, url, text = browser.get(action, form, follow=False)
            while status in (302, 303) and not url.startswith(self.base):
                target = url
                status, url, text = browser.get(target, follow=False)
            if status == 200:
                url = target
        self.assertTrue(url.startswith(f'{self.base}/callback?'), url)
        return url

    def test_login(self):
        browser = Browser()
        callback = self.go_to_callback(browser)
        status, url, text = browser.get(callback)
        self.assertEqual((status, url, text), (200, f'{self.base}/', 'You are ada.\n'))
        # A code and a state are good for one answer.
        self.assertEqual(browser.get(callback)[0], 400)
        self.assertEqual(browser.get(f'{self.base}/')[2], 'You are ada.\n')
        self.assertEqual(browser.get(f'{self.base}/logout', {})[0], 204)
        self.assertEqual(browser.get(f'{self.base}/', follow=False)[:2], (303, f'{self.base}/login'))

    def test_another_browser(self):
        callback = self.go_to_callback(Browser())
        victim = Browser()
        self.assertEqual(victim.get(callback)[0], 400)
        self.go_to_callback(victim, 'eve')
        self.assertEqual(victim.get(callback)[0], 400)
        self.assertEqual(victim.get(f'{self.base}/', follow=False)[0], 303)

    def test_refused(self):
        browser = Browser()
        state = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.get(f'{self.base}/login', follow=False)[1]).query)['state'][0]
        status, _, text = browser.get(f'{self.base}/callback?error=access_denied&state={state}')
        self.assertEqual(status, 403, text)

    def test_wrong_codes(self):
        browser = Browser()
        url = self.go_to_callback(browser)
        status, _, text = browser.get(re.sub('code=[^&]+', 'code=made%20up', url))
        self.assertEqual(status, 502, text)
        self.server.wait_for('/token answered 400')
        self.assertEqual(browser.get(f'{self.base}/callback?state=1')[0], 400)
        self.assertEqual(browser.get(f'{self.base}/callback')[0], 400)

    def test_issuer_is_gone(self):
        server = self.serve('127.0.0.1:0', self.base, program='login', wrap=('env', '-C', self.folder_of_keys()), log='warn,eddy::app=info',
                            env={'LOGIN_ISSUER': 'http://127.0.0.1:9', 'LOGIN_CLIENT': 'shop'})
        self.assertProblem(server.get('/login'), 502)

    def folder_of_keys(self):
        folder = self.folder()
        with open(os.path.join(folder, 'keys'), 'w') as file:
            file.write(secrets.token_hex(32) + '\n')
        return folder
