"""What a run found, as text, JSON, SARIF 2.1.0 or GitHub's workflow commands: from `Report`s to lines, no terminal."""
