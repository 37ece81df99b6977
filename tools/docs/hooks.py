"""Links that leave docs/ lead to the repository: the site has only what is in docs/."""

import posixpath
import re

LINK = re.compile(r"\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)]*)?\)")


def on_page_markdown(markdown, page, config, files, **_):
    def leave(match):
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), match["target"]))
        if path == "docs" or path.startswith("docs/"):
            return match[0]
        return f"]({config['repo_url']}/tree/main/{path}{match['anchor'] or ''})"

    return LINK.sub(leave, markdown)
