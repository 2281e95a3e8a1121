"""python -m utlz"""

from utlz._program import utlz

utlz()
