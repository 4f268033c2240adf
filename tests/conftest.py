"""Property tests are judged by what they find, never by how long they take."""

from hypothesis import settings

settings.register_profile("tare", deadline=None)
settings.load_profile("tare")
