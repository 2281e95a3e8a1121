from .adam import Adam
